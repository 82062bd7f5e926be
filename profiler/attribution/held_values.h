// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a value that holds until the next one, weighted by time.
//
//   set(0, 1980)  set(300, 1455)  end(1000)  ─▶  min 1455, median 1455 (70 % of the time), max 1980
//
// Memory is bounded: values are kept to three significant digits for the median, 900 for each power of ten.
// All others are exact. Times must not decrease.
#pragma once

#include <cstdint>
#include <map>

#include "schema/record.h"

namespace rangefinder {

class HeldValues {
 public:
  /// `value` holds from `at_ns` on.
  void set(TimeNs at_ns, std::uint64_t value);
  /// The same for a count, of which only growth() and last() are wanted: nothing is kept by time.
  void count(std::uint64_t value);
  /// The last value held until then. More values may follow.
  void end(TimeNs at_ns);

  // After set():
  [[nodiscard]] std::uint64_t min() const noexcept { return min_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  [[nodiscard]] std::uint64_t first() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }
  /// Half of the time the value was at most this, to three significant digits.
  [[nodiscard]] std::uint64_t median() const;
  [[nodiscard]] double mean() const noexcept;
  /// Of a count: how much it grew.
  [[nodiscard]] std::uint64_t growth() const noexcept { return last_ > first_ ? last_ - first_ : 0; }
  /// Time by value, to three significant digits.
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& times_ns() const noexcept { return times_ns_; }
  [[nodiscard]] bool empty() const noexcept { return empty_; }

 private:
  bool empty_ = true;
  TimeNs since_ns_ = 0;
  std::uint64_t first_ = 0, last_ = 0, min_ = 0, max_ = 0;
  std::uint64_t total_ns_ = 0;
  double value_ns_ = 0;  // sum of value x time
  std::map<std::uint64_t, std::uint64_t> times_ns_;
};

}  // namespace rangefinder
