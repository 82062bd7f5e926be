// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/exact_batches.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include "profiler/counters/cupti_params.h"

namespace rangefinder {

void ExactBatches::give(const ExactLaunch& launch) noexcept {
  const std::lock_guard guard(mutex_);
  try {
    if (launches_.size() < kMaxWaiting) {
      launches_.push_back(launch);
      return;
    }
  } catch (...) {
  }
  loss_.add(Loss::events_dropped);
}

void ExactBatches::give(std::uint32_t gpu, std::uint16_t group, std::span<const ExactLaunch> ranges,
                        std::span<const std::uint8_t> image) noexcept {
  given_.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard guard(mutex_);
  try {
    if (has_room(ranges.size(), image.size())) {
      ExactBatch batch;
      if (!spare_.empty()) {
        batch = std::move(spare_.back());
        spare_.pop_back();
      }
      batch.gpu = gpu;
      batch.group = group;
      batch.ranges.assign(ranges.begin(), ranges.end());
      batch.image.assign(image.begin(), image.end());
      batches_.push_back(std::move(batch));
      waiting_ranges_ += ranges.size();
      waiting_bytes_ += image.size();
      return;
    }
  } catch (...) {
  }
  loss_.add(Loss::events_dropped, ranges.size());
}

// A batch of any size always fits if it is the only one.
bool ExactBatches::has_room(std::size_t ranges, std::size_t image_bytes) const noexcept {
  return batches_.empty() ||
         (waiting_ranges_ + ranges <= kMaxWaiting && waiting_bytes_ + image_bytes <= kMaxImageBytes);
}

void ExactBatches::take(std::vector<ExactLaunch>& out,
                        CounterConfig* (*config)(void* user, std::uint32_t gpu), void* user) {
  std::vector<ExactLaunch> launches;
  std::vector<ExactBatch> batches;
  {
    const std::lock_guard guard(mutex_);
    launches.swap(launches_);
    batches.swap(batches_);
    waiting_ranges_ = waiting_bytes_ = 0;
  }
  for (ExactBatch& batch : batches) {
    if (CounterConfig* const of = config(user, batch.gpu); of != nullptr && !batch.image.empty())
      evaluate(batch, *of);
    launches.insert(launches.end(), batch.ranges.begin(), batch.ranges.end());
  }
  count_unmeasured(launches);
  out.insert(out.end(), launches.begin(), launches.end());
  const std::lock_guard guard(mutex_);
  for (ExactBatch& batch : batches) {
    if (spare_.size() < 2) spare_.push_back(std::move(batch));
  }
}

void ExactBatches::evaluate(ExactBatch& batch, CounterConfig& config) const {
  auto info = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_GetCounterDataInfo);
  info.pCounterDataImage = batch.image.data();
  info.counterDataImageSize = batch.image.size();
  if (cupti_.RangeProfilerGetCounterDataInfo(&info) != CUPTI_SUCCESS) return;
  for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
    auto name = RANGEFINDER_CUPTI_PARAMS(Profiler_Host_GetRangeName);
    name.pCounterDataImage = batch.image.data();
    name.counterDataImageSize = batch.image.size();
    name.rangeIndex = i;
    name.delimiter = "/";
    if (cupti_.ProfilerHostGetRangeName(&name) != CUPTI_SUCCESS || name.pRangeName == nullptr) continue;
    std::size_t index = batch.ranges.size();
    std::from_chars(name.pRangeName, name.pRangeName + std::strlen(name.pRangeName), index);
    std::free(const_cast<char*>(name.pRangeName));  // CUPTI's documentation: the caller frees it
    if (index >= batch.ranges.size()) continue;
    ExactLaunch& range = batch.ranges[index];
    const bool has_values = config.evaluate(batch.group, batch.image, i, range.values);
    if (has_values && range.outcome == CounterOutcome::lost) range.outcome = CounterOutcome::measured;
  }
}

void ExactBatches::count_unmeasured(std::span<const ExactLaunch> launches) noexcept {
  std::uint64_t unmeasured = 0;
  for (const ExactLaunch& launch : launches) {
    const bool launched = launch.event.launch.result == 0;
    const bool in_range = launch.counter_range != 0 && !launch.is_counter_range;  // counted with its range
    if (launched && !in_range && launch.outcome != CounterOutcome::measured)
      unmeasured += launch.is_counter_range ? launch.launches : 1;
  }
  if (unmeasured != 0) loss_.add(Loss::exact_unmeasured, unmeasured);
}

}  // namespace rangefinder
