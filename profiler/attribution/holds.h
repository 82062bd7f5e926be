// SPDX-License-Identifier: Apache-2.0
//
// Time in which the profiler made threads of the application wait, to leave it out of host times.
//
//   hold lines ─▶ add() ─▶ intervals by thread ─▶ within(thread, from, to)     host time = length - within
//
// The hold lines of a thread come before its ranges and launches that they are in, so lines can be used as
// they are read. Not thread-safe.
//
// Gap lines are of no thread. They count only for gap_ns(): the host goes on in a gap, but what the GPU did
// is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "schema/record.h"

namespace rangefinder {

class Holds {
 public:
  struct Span {
    TimeNs start_ns = 0, end_ns = 0;
  };

  /// `max`: intervals kept for each thread, the newest. 16 bytes each.
  explicit Holds(std::size_t max = SIZE_MAX) noexcept : max_(max) {}

  /// Holds that overlap count once.
  void add(const HoldRecord& hold) { add(hold.thread, hold.start_ns, hold.end_ns); }
  void add(const GapRecord& gap) { add(kNoThread, gap.start_ns, gap.end_ns); }
  /// Length of the part of [from, to) in which the thread was held.
  [[nodiscard]] std::uint64_t within(std::uint32_t thread, TimeNs from, TimeNs to) const noexcept;
  [[nodiscard]] std::uint64_t within(const HostWork& host) const noexcept {
    return within(host.thread, host.start_ns, host.end_ns);
  }
  /// Length of [from, to) without it.
  [[nodiscard]] std::uint64_t net_ns(std::uint32_t thread, TimeNs from, TimeNs to) const noexcept;
  [[nodiscard]] std::uint64_t net_ns(const HostWork& host) const noexcept {
    return net_ns(host.thread, host.start_ns, host.end_ns);
  }

  /// Length of the part of [from, to) that is in gaps.
  [[nodiscard]] std::uint64_t gap_ns(TimeNs from, TimeNs to) const noexcept {
    return within(kNoThread, from, to);
  }

 private:
  static constexpr std::uint32_t kNoThread = 0;
  void add(std::uint32_t thread, TimeNs start_ns, TimeNs end_ns);

  std::size_t max_;
  std::unordered_map<std::uint32_t, std::deque<Span>> threads_;  // sorted, without overlap
};

}  // namespace rangefinder
