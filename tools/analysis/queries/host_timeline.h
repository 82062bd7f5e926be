// SPDX-License-Identifier: Apache-2.0
//
// The activity of one host thread over time: its innermost range and the driver call it was in.
//
//   ranges   [ model                          ]
//              [ backbone ]    [ decoder    ]
//   calls        [launch]         [ sync  ]
//   pieces   m b  b        b m  d    d     d  m     ─▶ HostPiece{from, to, path}, times in calls
//
// A range is recorded when it ends, so the outermost comes last. So the time line is cut into pieces after
// the last range. Memory: 24 bytes per range, the same for its steps, and 16 bytes per call.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "schema/read_line.h"
#include "schema/record.h"
#include "tools/analysis/model/huge_pages.h"

namespace rangefinder {

enum class HostCall : std::uint8_t { launch, sync, memory, other };
/// Of a record of a host call.
template <typename Record>
[[nodiscard]] constexpr HostCall host_call_kind(const Record&) noexcept {
  if (std::is_same_v<Record, LaunchRecord> || std::is_same_v<Record, ExactRecord>) return HostCall::launch;
  if (std::is_same_v<Record, SyncRecord>) return HostCall::sync;
  return std::is_same_v<Record, AllocRecord> ? HostCall::memory : HostCall::other;
}
inline constexpr std::size_t kHostCalls = 4;

/// The path of a piece in which the profiler held the thread.
inline constexpr std::uint32_t kHeldPath = UINT32_MAX;

/// A part of a span with one innermost path.
struct HostPiece {
  TimeNs from_ns = 0, to_ns = 0;
  std::uint32_t path = 0;                         ///< 0: outside of any range; kHeldPath
  std::array<std::uint64_t, kHostCalls> calls{};  ///< ns of it in each kind of call

  [[nodiscard]] std::uint64_t ns() const noexcept { return static_cast<std::uint64_t>(to_ns - from_ns); }
  [[nodiscard]] bool in(HostCall kind) const noexcept { return calls[static_cast<std::size_t>(kind)] != 0; }
  [[nodiscard]] bool in_call() const noexcept {
    return std::any_of(calls.begin(), calls.end(), [](std::uint64_t call_ns) { return call_ns != 0; });
  }
};

/// The time line of one thread. Not thread-safe.
class HostTimeline {
 public:
  void add_range(TimeNs start, TimeNs end, std::uint32_t path);
  void add_hold(const HoldRecord& hold) { add_range(hold.start_ns, hold.end_ns, kHeldPath); }
  void add_call(TimeNs start, TimeNs end, HostCall kind);
  /// Drops calls that end by `until` and for which `wanted(start, end)` is false. Calls `wanted` once per
  /// call, nearly in time order.
  template <typename Wanted>
  void drop_calls(TimeNs until, Wanted&& wanted) {
    const auto first = calls_.begin() + static_cast<std::ptrdiff_t>(checked_);
    // Calls are nearly sorted: behind one that ends later, almost none ends by `until`.
    const auto last =
        std::find_if(first, calls_.end(), [until](const DriverCall& call) { return call.end() > until; });
    const auto kept = std::remove_if(
        first, last, [&wanted](const DriverCall& call) { return !wanted(call.start, call.end()); });
    checked_ = static_cast<std::size_t>(kept - calls_.begin());
    calls_.erase(kept, last);
  }
  /// Call it after the last range and call, before the first visit().
  void finish();
  /// Where the last visit() ended; a visit() of a later time starts its search there.
  struct Cursor {
    std::size_t step = 0, call = 0;
  };
  /// Calls `piece` for the pieces of [from, to) in time order, without gaps.
  template <typename See>
  void visit(TimeNs from, TimeNs to, See&& piece, Cursor& cursor) const {
    std::size_t next = cursor.step = first_step_after(from, cursor.step);
    while (from < to) {
      const std::uint32_t path = next == 0 ? 0 : step_paths_[next - 1];
      const TimeNs until = next == step_times_.size() ? to : std::min(to, step_times_[next]);
      HostPiece part{from, until, path, {}};
      add_calls(part, cursor.call);
      piece(static_cast<const HostPiece&>(part));
      from = until;
      if (next != step_times_.size()) ++next;
    }
  }
  /// The nanosecond from `time` on.
  [[nodiscard]] HostPiece at(TimeNs time, Cursor& cursor) const {
    HostPiece out;
    visit(
        time, time + 1, [&out](const HostPiece& piece) { out = piece; }, cursor);
    return out;
  }

 private:
  struct Range {
    TimeNs start, end;
    std::uint32_t path;
  };
  struct DriverCall {
    TimeNs start;
    std::uint64_t length : 62;
    std::uint64_t kind : 2;
    [[nodiscard]] TimeNs end() const noexcept { return start + static_cast<TimeNs>(length); }
  };
  void add_step(TimeNs at, std::uint32_t path);
  [[nodiscard]] std::size_t first_step_after(TimeNs at, std::size_t hint) const;
  void add_calls(HostPiece& piece, std::size_t& first) const;

  template <typename T>
  using List = std::vector<T, HugePages<T>>;
  List<Range> ranges_;
  List<DriverCall> calls_;
  std::size_t checked_ = 0;  // the first calls_, which drop_calls() has already kept
  // The times at which the innermost range changes, and the new path. Two lists: 12 bytes per step, not 16.
  List<TimeNs> step_times_;
  List<std::uint32_t> step_paths_;
};

}  // namespace rangefinder
