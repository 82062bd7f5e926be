// SPDX-License-Identifier: Apache-2.0
//
// Length of the union of intervals in the order of their start (time_order.h). An interval that comes too
// late is clipped to the part after all earlier ones, so the union is never too long.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rangefinder {

class IntervalUnion {
 public:
  /// Adds [start, end). Empty and reversed intervals have no effect. `counts`: false: the length stays as it
  /// is, and later intervals are clipped to what comes after this one.
  void add(std::int64_t start, std::int64_t end, bool counts = true) noexcept {
    start = std::max(start, until_);
    if (end <= start) return;
    // Unsigned: with the times of a damaged trace, end - start may overflow the signed type.
    if (counts) length_ += static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
    until_ = end;
  }
  [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
  /// The length up to `end`, which is not before the start of an interval so far.
  [[nodiscard]] std::uint64_t length_until(std::int64_t end) const noexcept {
    if (end >= until_) return length_;
    return length_ - std::min(length_, static_cast<std::uint64_t>(until_) - static_cast<std::uint64_t>(end));
  }

 private:
  std::uint64_t length_ = 0;
  std::int64_t until_ = INT64_MIN;
};

}  // namespace rangefinder
