// SPDX-License-Identifier: Apache-2.0
//
// What a host thread did at any moment: which range was innermost, which call of the driver it was in.
//
//   ranges   [ model                          ]
//              [ backbone ]    [ decoder    ]
//   calls        [launch]         [ sync  ]
//   pieces   m b  b        b m  d    d     d  m     ─▶ HostPiece{from, to, path}, times in calls
//
// Ranges come when they end, the outermost last, so the time line can be cut into pieces only when all
// are there: it keeps 24 bytes a range, as many for its steps, and 16 bytes a call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "schema/record.h"

namespace rangefinder {

enum class HostCall : std::uint8_t { launch, sync, memory, other };
inline constexpr std::size_t kHostCalls = 4;

/// Part of a span in which one path was innermost.
struct HostPiece {
  TimeNs from_ns = 0, to_ns = 0;
  std::uint32_t path = 0;                         ///< 0: outside of any range
  std::array<std::uint64_t, kHostCalls> calls{};  ///< of it, spent in each kind of call, ns

  [[nodiscard]] std::uint64_t ns() const noexcept { return static_cast<std::uint64_t>(to_ns - from_ns); }
};

/// One thread's. Not thread-safe.
class HostTimeline {
 public:
  void add_range(TimeNs start, TimeNs end, std::uint32_t path);
  void add_call(TimeNs start, TimeNs end, HostCall kind);
  /// Forgets calls that end by `until` and for which `wanted(start, end)` says no. Asks once for each, nearly
  /// in order of time.
  void drop_calls(TimeNs until, const std::function<bool(TimeNs, TimeNs)>& wanted);
  /// After the last range and call, before the first visit().
  void finish();
  /// Where the last visit() ended: the next one, if it is of a later time, begins to look there.
  struct Cursor {
    std::size_t step = 0, call = 0;
  };
  /// The pieces of [from, to) in order of time, without gaps.
  void visit(TimeNs from, TimeNs to, const std::function<void(const HostPiece&)>& piece,
             Cursor& cursor) const;

 private:
  struct Range {
    TimeNs start, end;
    std::uint32_t path;
  };
  struct Call {
    TimeNs start;
    std::uint64_t length : 62;
    std::uint64_t kind : 2;
    [[nodiscard]] TimeNs end() const noexcept { return start + static_cast<TimeNs>(length); }
  };
  void add_step(TimeNs at, std::uint32_t path);
  void add_calls(HostPiece& piece, std::size_t& first) const;

  std::deque<Range> ranges_;
  std::deque<Call> calls_;
  std::size_t asked_ = 0;  // of calls_: those that drop_calls() kept for good
  // Where the innermost range changes, and which it is from there on. Apart, for 12 bytes in place of 16.
  std::deque<TimeNs> step_times_;
  std::deque<std::uint32_t> step_paths_;
};

}  // namespace rangefinder
