// SPDX-License-Identifier: Apache-2.0
//
// When samples must come less often: our threads do not keep up with them, or take more of the host
// than they may.
//
//   totals so far, now and then ─▶ look() ─▶ nothing, or a longer interval and why
//
// Pure: no thread, no clock.
#pragma once

#include <cstdint>
#include <optional>

namespace rangefinder {

class PmPace {
 public:
  /// How long our threads are watched before a judgement.
  static constexpr std::int64_t kLookNs = 250'000'000;
  /// After the beginning, memory is touched for the first time: no measure of what follows.
  static constexpr std::int64_t kWarmUpNs = 100'000'000;
  /// Of all samples lost in a look, at once; and in two looks one behind the other, because a machine may
  /// stall.
  static constexpr double kMuchLost = 0.25, kLost = 0.02;
  /// A longer interval leaves so much room: to begin with it takes 0.2 to 0.4 s, in which nothing is
  /// sampled, so once is better than twice.
  static constexpr double kLostRoom = 1.15, kCpuRoom = 1.15;

  /// Totals of one GPU's sampling, with the host's clock.
  struct Work {
    std::int64_t now_ns = 0;
    std::uint64_t cpu_ns = 0;
    std::uint64_t samples = 0, lost = 0;
  };
  struct Change {
    std::uint32_t interval_ns = 0;
    const char* reason = "";  ///< "behind", "cpu"
  };

  /// `max_cpu_percent` of one core; 0: as much as it takes.
  explicit PmPace(std::uint32_t max_cpu_percent) noexcept : max_cores_(max_cpu_percent / 100.0) {}

  /// Sampling begins, or begins anew.
  void begin(std::int64_t now_ns) noexcept;
  /// Totals must not fall. The caller goes on with the new interval, from begin().
  [[nodiscard]] std::optional<Change> look(const Work& work, std::uint32_t interval_ns) noexcept;

 private:
  struct Rates {
    double lost = 0;   // of all samples
    double cores = 0;  // of CPU
  };
  double max_cores_;
  std::int64_t from_ns_ = 0;
  std::optional<Work> last_;
  std::optional<Rates> before_;  // of the look before
};

}  // namespace rangefinder
