// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/condition_input.h"

namespace rangefinder {

void ConditionInput::begin() {
  if (sampler_ == nullptr) return;
  sampler_->take(records_);  // of an earlier window
  lost_ = sampler_->lost() + sampler_->errors() + sampler_->skipped_threads();
  segment_ = trace_.segment();
  sampler_->resume();
}

void ConditionInput::turn(bool records, LossLedger& loss) {
  if (sampler_ == nullptr) return;
  follow_gpus();
  sampler_->take(records_);
  if (records) {
    trace_.on_conditions(records_);
  } else if (!records_.empty()) {
    sampler_->forget();  // the next window's first values are complete
  }
  count_lost(loss);
  // Each segment can be read alone.
  if (segment_ == trace_.segment()) return;
  segment_ = trace_.segment();
  sampler_->forget();
}

void ConditionInput::end() {
  if (sampler_ != nullptr) sampler_->pause();
}

// Only those that the program uses: NVML also knows those of other processes.
void ConditionInput::follow_gpus() {
  if (contexts_ == trace_.contexts()) return;
  contexts_ = trace_.contexts();
  for (const GpuRecord& gpu : trace_.used_gpus()) sampler_->add_gpu(gpu.id, gpu.uuid);
}

void ConditionInput::count_lost(LossLedger& loss) {
  const std::uint64_t lost = sampler_->lost() + sampler_->errors() + sampler_->skipped_threads();
  if (lost > lost_) loss.add(Loss::conditions_lost, lost - lost_);
  lost_ = lost;
}

}  // namespace rangefinder
