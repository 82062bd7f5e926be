// SPDX-License-Identifier: Apache-2.0
#include "profiler/session/host_samplers.h"

#include <chrono>

#include "profiler/events/recorder.h"
#include "profiler/guest/log.h"
#include "profiler/guest/thread_cpu.h"

namespace rangefinder {
namespace {

constexpr std::chrono::milliseconds kConditionPatience{100};  // a call of NVML takes microseconds

}  // namespace

ConditionSampler* HostSamplers::conditions(const Options& options) {
  if (!conditions_ && options.conditions) {
    conditions_ = std::make_unique<ConditionSampler>(ConditionSampler::Sources{&clock_now_ns, options.gpm});
    if (!conditions_->start()) log_info("conditions are not recorded: cannot start their thread");
  }
  return conditions_.get();
}

StackSampler* HostSamplers::stacks(const Options& options) {
  if (!stacks_ && options.stacks && has_python()) {
    stacks_ = std::make_unique<StackSampler>(StackSampler::Sources{
        &clock_now_ns, recorder().names, recorder().stacks, options.redact, &thread_cpu_ns});
    if (!stacks_->start()) log_info("host stacks are not recorded: cannot start their thread");
  }
  return stacks_.get();
}

void HostSamplers::stop_conditions() noexcept {
  if (conditions_) (void)conditions_->stop(kConditionPatience);
}

}  // namespace rangefinder
