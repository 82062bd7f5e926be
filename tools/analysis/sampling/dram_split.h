// SPDX-License-Identifier: Apache-2.0
//
// Splits NVML's bytes of a GPU's DRAM, ten values a second, over owners of work: modules, iterations.
//
//   `condition` lines with dram_mib ─▶ intervals: bytes between two values ──┐
//   GPU work ─▶ time of each owner, in steps of kStepNs ─────────────────────┴▶ shares(): bytes ± error
//
// GPM's values are late: what one covers ended 45 to 150 ms before it was read, always as long in one process
// for a while. So the lag is fitted, for each half minute, with rates of kKinds kinds of work: the lag at
// which these predict the intervals best. The bytes of an interval are shared in proportion to these rates.
//
// The error bound is what is possible: an owner has no more than its work could move at the DRAM's peak, and
// no less than the rest of the work could not move. So work that has whole intervals to itself is exact but
// for GPM's own error, and work that is always beside other work has a bound near its bytes. Bounds of
// intervals add up, because their errors may have one sign. Lags that fit about as well as the best one add
// their difference.
//
// NVML counts the whole GPU: bytes of other processes are attributed to the work that ran at the same time,
// and bytes of intervals without work to no owner. Memory: 16 bytes for each step, owner and kind of work, at
// most kMaxSteps of them. Work beyond that limit gets no bytes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "schema/condition_record.h"
#include "schema/record.h"

namespace rangefinder {

struct DramShare {
  double bytes = 0;
  double error = 0;       ///< bound, in bytes
  double work_ns = 0;     ///< durations of its work, summed
  double counted_ns = 0;  ///< part of work_ns inside intervals: only its bytes are in `bytes`
};

class DramSplit {
 public:
  static constexpr TimeNs kStepNs = 10'000'000;
  static constexpr std::size_t kKinds = 8, kMaxSteps = std::size_t{1} << 24;
  /// Owner of work that is in no share.
  static constexpr std::uint32_t kNoOwner = UINT32_MAX;

  void add(const ConditionRecord& record);
  void add(const GpuRecord& gpu) { peaks_[gpu.id] = static_cast<double>(gpu.peak_dram_bytes_per_s); }
  /// Its path decides its kind.
  void add_work(const GpuWork& work, std::uint32_t owner);

  /// The owner above, to which its bytes also count; kNoOwner: none.
  using OwnerAbove = std::function<std::uint32_t(std::uint32_t owner)>;
  /// By owner; empty: the trace has no such bytes. Call it once, after the last add().
  [[nodiscard]] std::unordered_map<std::uint32_t, DramShare> shares(const OwnerAbove& above);

 private:
  struct Interval {
    TimeNs from_ns = 0, to_ns = 0;
    double bytes = 0;
  };
  struct GpuBytes {
    std::uint64_t mib = 0;
    TimeNs at_ns = kNoTime;  // `mib` holds until then; kNoTime: no value yet
    std::vector<Interval> intervals;
  };
  struct StepWork {
    std::uint32_t step = 0;
    std::uint32_t owner = 0;
    std::uint32_t ns = 0;  // at most a few streams x kStepNs
    std::uint8_t kind = 0;
  };
  using KindTimes = std::array<double, kKinds>;
  /// How long before it was read a value ends, and the bytes per ns of each kind of work.
  struct LagFit {
    TimeNs lag_ns = 0;
    KindTimes rates{};
    double residual = 0;  // root of the mean squared difference, in bytes
  };
  /// The best lag, and the least and the largest one that fit about as well.
  struct Lags {
    LagFit best, least, most;
  };
  using Shares = std::unordered_map<std::uint32_t, DramShare>;

  /// see(StepWork, ns of it in the interval)
  template <typename See>
  static void each_work(const Interval& interval, TimeNs lag_ns, const std::vector<StepWork>& work,
                        See&& see);
  [[nodiscard]] static LagFit fit(std::span<const Interval> intervals, TimeNs lag_ns,
                                  const std::vector<StepWork>& work);
  [[nodiscard]] static Lags fit_lags(std::span<const Interval> intervals, const std::vector<StepWork>& work);
  static void add_shares(const Interval& interval, const LagFit& fit, const std::vector<StepWork>& work,
                         double peak_per_ns, const OwnerAbove& above, Shares& out);

  std::map<std::uint32_t, GpuBytes> gpus_;
  std::map<std::uint32_t, double> peaks_;                // bytes/s by GPU
  std::map<std::uint32_t, std::vector<StepWork>> work_;  // by GPU
};

}  // namespace rangefinder
