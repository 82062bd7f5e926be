// SPDX-License-Identifier: Apache-2.0
//
// The time that our callbacks cost the application, as a histogram. own_cost is computed from it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace rangefinder {

/// Durations of our work in callbacks, in bins of 8 ns. Any thread.
class CallbackCost {
 public:
  void add(std::int64_t ns) noexcept;
  void count() noexcept { calls_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t calls() const noexcept { return calls_.load(std::memory_order_relaxed); }
  /// Upper end of the bin that holds the quantile; 0 if nothing was measured.
  [[nodiscard]] std::uint64_t quantile_ns(double q) const noexcept;

 private:
  static constexpr std::int64_t kBinNs = 8;
  std::array<std::atomic<std::uint32_t>, 1024> bins_{};  // the last bin takes all longer durations
  std::atomic<std::uint64_t> calls_{0};
};

}  // namespace rangefinder
