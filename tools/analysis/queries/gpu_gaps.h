// SPDX-License-Identifier: Apache-2.0
//
// Finds the gaps in which a GPU was idle because the host launched late.
//
//   work ─┤████├──── gap ────┤████├─ work        the gap is attributed to the launch of the work after it
//   host        [range load][launch]
//
// A gap counts if that launch was called after the gap began, or at most kLaunchLeadNs before. After an
// earlier launch the GPU waited for something else: another stream, an event, its own scheduler.
// Time in which the profiler held that launch's thread is not part of its length. After time in which another
// tool had CUPTI (a `gap` line), a gap begins at the end of that time. Gaps below kShortestNs are due to the
// hardware. Gaps below kLongNs are summed by the path of the launch: the host launched as fast as it could.
// Longer gaps are kept singly: the host did something else.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/queries/stack_samples.h"

namespace rangefinder {

struct LongGap {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;  ///< of the launch that ended the gap
  std::uint32_t path = 0;    ///< of that launch
  bool after_sync = false;
};

struct ShortGaps {
  std::uint64_t count = 0, ns = 0;
  std::uint64_t sync_count = 0, sync_ns = 0;  ///< gaps after a synchronisation; not in the above
};

class GpuGaps {
 public:
  static constexpr std::uint64_t kShortestNs = 1'000;
  static constexpr std::uint64_t kLongNs = 100'000;
  static constexpr std::uint64_t kLaunchLeadNs = 10'000;

  /// Call it before the work after it.
  void unrecorded(const GapRecord& gap) { unrecorded_.push_back({gap.start_ns, gap.end_ns}); }
  /// Call it for all work, in order of start. `counts`: a short gap that it ends is in short_gaps().
  void work(const WorkEvent& event, const Holds& holds, bool counts);

  /// short_times() is needed, of the work from now on. 4 to 6 bytes per gap.
  void keep_short_times() noexcept { keeps_short_times_ = true; }

  /// Number of GPUs that had work; at least 1, so that callers can divide by it.
  [[nodiscard]] std::uint64_t gpus() const noexcept { return busy_until_.empty() ? 1 : busy_until_.size(); }
  /// Of all GPUs, in order of time. At most one per kLongNs of the trace and GPU.
  [[nodiscard]] const std::vector<LongGap>& long_gaps() const noexcept { return long_; }
  /// By path of the launch that ended the gaps.
  [[nodiscard]] const std::unordered_map<std::uint32_t, ShortGaps>& short_gaps() const noexcept {
    return short_;
  }
  /// The gaps of ShortGaps::ns, by thread of the launch that ended them.
  [[nodiscard]] const ThreadSpans& short_times() const noexcept { return short_times_; }

 private:
  std::vector<Holds::Span> unrecorded_;                   // in order of time
  std::unordered_map<std::uint32_t, TimeNs> busy_until_;  // by GPU
  std::vector<LongGap> long_;
  std::unordered_map<std::uint32_t, ShortGaps> short_;
  ThreadSpans short_times_;
  bool keeps_short_times_ = false;
};

}  // namespace rangefinder
