// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/interval_union.h"

#include <algorithm>

namespace rangefinder {
namespace {

// Unsigned: with the times of a damaged trace, end - start may overflow the signed type.
std::uint64_t length_of(std::int64_t start, std::int64_t end) noexcept {
  return static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
}

}  // namespace

void IntervalUnion::add(std::int64_t start, std::int64_t end) noexcept {
  start = std::max(start, closed_until_);
  if (end <= start) return;

  // [first, last): the open intervals that touch the new one. Searched from the newest,
  // because nearly every interval belongs there.
  std::size_t last = count_;
  while (last > 0 && open_[last - 1].start > end) --last;
  std::size_t first = last;
  while (first > 0 && open_[first - 1].end >= start) --first;

  if (first < last) {
    open_[first] = {std::min(open_[first].start, start), std::max(open_[last - 1].end, end)};
    std::copy(open_.begin() + static_cast<std::ptrdiff_t>(last),
              open_.begin() + static_cast<std::ptrdiff_t>(count_),
              open_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
    count_ -= last - first - 1;
    return;
  }
  insert(first, {start, end});
}

void IntervalUnion::insert(std::size_t position, Interval interval) noexcept {
  if (count_ == kOpen) {
    // Close the oldest, which is the new one if it comes before all others.
    const Interval oldest = position == 0 ? interval : open_[0];
    closed_ns_ += length_of(oldest.start, oldest.end);
    closed_until_ = oldest.end;
    if (position == 0) return;
    std::copy(open_.begin() + 1, open_.begin() + static_cast<std::ptrdiff_t>(position), open_.begin());
    open_[position - 1] = interval;
    return;
  }
  std::copy_backward(open_.begin() + static_cast<std::ptrdiff_t>(position),
                     open_.begin() + static_cast<std::ptrdiff_t>(count_),
                     open_.begin() + static_cast<std::ptrdiff_t>(count_) + 1);
  open_[position] = interval;
  ++count_;
}

std::uint64_t IntervalUnion::length() const noexcept {
  std::uint64_t total = closed_ns_;
  for (std::size_t i = 0; i < count_; ++i) total += length_of(open_[i].start, open_[i].end);
  return total;
}

}  // namespace rangefinder
