// SPDX-License-Identifier: Apache-2.0
//
// Decides when the sampling interval must grow: our threads do not keep up, or use more CPU time than
// allowed.
//
//   totals so far, periodically ─▶ check() ─▶ nothing, or a longer interval and the reason
//
// Pure: no thread, no clock.
#pragma once

#include <cstdint>
#include <optional>

namespace rangefinder {

class PmPace {
 public:
  /// Length of a measurement period.
  static constexpr std::int64_t kPeriodNs = 250'000'000;
  /// Ignored at the start, when page faults slow everything down.
  static constexpr std::int64_t kWarmUpNs = 100'000'000;
  /// Share of samples lost: above kMuchLost in one period, or above kLost in two consecutive periods, because
  /// a machine may stall once.
  static constexpr double kMuchLost = 0.25, kLost = 0.02;
  /// Headroom of the new interval. A change takes 0.2 to 0.4 s without samples, so one large step is better
  /// than two.
  static constexpr double kLostRoom = 1.15, kCpuRoom = 1.15;

  /// Totals of one GPU's sampling, at a time of the host's clock.
  struct Work {
    std::int64_t now_ns = 0;
    std::uint64_t cpu_ns = 0;
    std::uint64_t samples = 0, lost = 0;
  };
  struct Change {
    std::uint32_t interval_ns = 0;
    const char* reason = "";  ///< "behind", "cpu"
  };

  /// `max_cpu_percent` of one core; 0: no limit.
  explicit PmPace(std::uint32_t max_cpu_percent) noexcept : max_cores_(max_cpu_percent / 100.0) {}

  /// Sampling starts or restarts.
  void begin(std::int64_t now_ns) noexcept;
  /// Totals must not decrease. After a change, the caller uses the new interval and calls begin().
  [[nodiscard]] std::optional<Change> check(const Work& work, std::uint32_t interval_ns) noexcept;

 private:
  struct Rates {
    double lost = 0;   // share of all samples
    double cores = 0;  // CPU time over elapsed time
  };
  double max_cores_;
  std::int64_t from_ns_ = 0;
  std::optional<Work> last_;
  std::optional<Rates> before_;  // of the previous period
};

}  // namespace rangefinder
