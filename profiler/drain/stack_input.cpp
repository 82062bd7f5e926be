// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/stack_input.h"

#include <chrono>

namespace rangefinder {
namespace {

constexpr std::chrono::milliseconds kTurnPatience{100};  // a turn takes less than a millisecond

}  // namespace

void StackInput::begin() {
  if (sampler_ == nullptr) return;
  sampler_->take(records_);  // of an earlier window
  lost_ = sampler_->lost();
  sampler_->resume();
}

void StackInput::turn(bool records, LossLedger& loss) {
  if (sampler_ == nullptr) return;
  sampler_->take(records_);
  const std::uint64_t lost = sampler_->lost();
  if (lost > lost_) loss.add(Loss::stacks_lost, lost - lost_);
  lost_ = lost;
  if (records) trace_.on_stacks(records_);
}

void StackInput::end() {
  if (sampler_ != nullptr) sampler_->pause(kTurnPatience);
}

}  // namespace rangefinder
