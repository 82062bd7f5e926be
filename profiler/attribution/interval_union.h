// SPDX-License-Identifier: Apache-2.0
//
// Length of the union of intervals that arrive nearly in time order.
//
//   closed_ns_ ◀── oldest ─ [==]  [====]  [=]  ... at most kOpen disjoint intervals
//
// Bounded memory: beyond kOpen disjoint intervals the oldest is closed and only its
// length is kept. A later interval is clipped to the part after all closed ones, so the
// union is never too long. It is exact while intervals are out of order by fewer than
// kOpen disjoint intervals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace rangefinder {

class IntervalUnion {
 public:
  /// Adds [start, end). Empty and reversed intervals have no effect.
  void add(std::int64_t start, std::int64_t end) noexcept;
  [[nodiscard]] std::uint64_t length() const noexcept;

 private:
  static constexpr std::size_t kOpen = 16;
  struct Interval {
    std::int64_t start, end;
  };
  void insert(std::size_t position, Interval interval) noexcept;

  std::array<Interval, kOpen> open_{};  // sorted, disjoint
  std::size_t count_ = 0;
  std::uint64_t closed_ns_ = 0;
  std::int64_t closed_until_ = INT64_MIN;
};

}  // namespace rangefinder
