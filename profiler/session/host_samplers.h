// SPDX-License-Identifier: Apache-2.0
//
// Our threads that sample the host: conditions and stacks. They exist from the first window on, and sleep
// between windows.
//
// Guarded by the session's lock, as it states.
#pragma once

#include <memory>

#include "profiler/conditions/condition_sampler.h"
#include "profiler/options/options.h"
#include "profiler/stacks/stack_sampler.h"

namespace rangefinder {

class HostSamplers {
 public:
  /// nullptr: conditions are not requested.
  [[nodiscard]] ConditionSampler* conditions(const Options& options);
  /// nullptr: stacks are not requested, or the process has no Python yet.
  [[nodiscard]] StackSampler* stacks(const Options& options);
  /// The process exits. Until the last window has ended, stacks are still sampled.
  void stop_conditions() noexcept;

 private:
  std::unique_ptr<ConditionSampler> conditions_;
  std::unique_ptr<StackSampler> stacks_;
};

}  // namespace rangefinder
