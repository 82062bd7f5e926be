// SPDX-License-Identifier: Apache-2.0
//
// Queue from the application's threads to the drain thread: launches, and batches of
// counter ranges whose values are still in CUPTI's image.
//
//   ExactContext ─▶ give(ranges, image) ─┐
//   ExactProfiler ─▶ give(launch) ───────┴─▶ take(): evaluate ─▶ launches with values
//
// Evaluation takes 4 us per range, too long while a launch waits. So the image is copied
// (7 MB, 1 ms) and evaluated on the drain thread. Any thread may give, one thread takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "profiler/counters/exact/counter_config.h"
#include "profiler/counters/exact/exact_launch.h"
#include "schema/loss.h"

namespace rangefinder {

/// Ranges that were collected together.
struct ExactBatch {
  std::uint32_t gpu = 0;
  std::uint16_t group = 0;
  std::vector<ExactLaunch> ranges;  ///< by range number in the image
  std::vector<std::uint8_t> image;  ///< decoded counter data; empty: no values
};

class ExactBatches {
 public:
  /// Limits of what waits for the drain thread. kMaxWaiting holds for launches and for ranges (34 MiB each).
  /// Images are limited by bytes, not by number, so that small batches are not lost sooner than large ones.
  static constexpr std::size_t kMaxWaiting = std::size_t{1} << 16;
  static constexpr std::size_t kMaxImageBytes = std::size_t{56} << 20;

  ExactBatches(const CuptiFunctions& cupti, LossLedger& loss) : cupti_(cupti), loss_(loss) {}

  void give(const ExactLaunch& launch) noexcept;
  void give(std::uint32_t gpu, std::uint16_t group, std::span<const ExactLaunch> ranges,
            std::span<const std::uint8_t> image) noexcept;

  /// Drain thread: appends everything given since the last call. `config` returns nullptr if `gpu` has none.
  void take(std::vector<ExactLaunch>& out, CounterConfig* (*config)(void* user, std::uint32_t gpu),
            void* user);
  /// Batches given so far.
  [[nodiscard]] std::uint64_t given() const noexcept { return given_.load(std::memory_order_relaxed); }

 private:
  void evaluate(ExactBatch& batch, CounterConfig& config) const;
  void count_unmeasured(std::span<const ExactLaunch> launches) noexcept;
  [[nodiscard]] bool has_room(std::size_t ranges, std::size_t image_bytes) const noexcept;

  const CuptiFunctions& cupti_;
  LossLedger& loss_;
  std::atomic<std::uint64_t> given_{0};
  std::mutex mutex_;
  std::vector<ExactLaunch> launches_;  // guarded by mutex_
  std::vector<ExactBatch> batches_;    // guarded by mutex_
  std::vector<ExactBatch> spare_;      // guarded by mutex_: memory for reuse
  std::size_t waiting_ranges_ = 0;     // guarded by mutex_: ranges in batches_
  std::size_t waiting_bytes_ = 0;      // guarded by mutex_: image bytes in batches_
};

}  // namespace rangefinder
