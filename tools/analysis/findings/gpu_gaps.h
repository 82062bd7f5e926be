// SPDX-License-Identifier: Apache-2.0
//
// When a GPU had nothing to do because the host was late, and whose launch ended it.
//
//   work ─┤████├──── gap ────┤████├─ work        the gap is blamed on the launch of the work after it
//   host        [range load][launch]
//
// A gap counts if that launch was called after the gap had begun, or kLaunchLeadNs before. If it was
// called earlier the GPU waited for something else: another stream, an event, its own scheduler.
// Gaps below kShortestNs are the hardware's. Those up to kLongNs are summed by the path of the launch:
// the host was launching as fast as it could. Longer ones are kept: the host did something else.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/analysis/findings/joined_work.h"

namespace rangefinder {

struct LongGap {
  TimeNs start_ns = 0, end_ns = 0;
  std::uint32_t thread = 0;  ///< of the launch that ended it
  std::uint32_t path = 0;    ///< of that launch
  bool after_sync = false;
};

struct ShortGaps {
  std::uint64_t count = 0, ns = 0;
  std::uint64_t sync_count = 0, sync_ns = 0;  ///< beside these: behind a synchronisation of the thread
};

class GpuGaps {
 public:
  static constexpr std::uint64_t kShortestNs = 1'000;
  static constexpr std::uint64_t kLongNs = 100'000;
  static constexpr std::uint64_t kLaunchLeadNs = 10'000;

  /// In order of start.
  void work(const WorkEvent& event);

  /// Those that worked; at least 1, to divide by.
  [[nodiscard]] std::uint64_t gpus() const noexcept { return busy_until_.empty() ? 1 : busy_until_.size(); }
  /// Of all GPUs, by time. At most one each kLongNs of the trace.
  [[nodiscard]] const std::vector<LongGap>& long_gaps() const noexcept { return long_; }
  /// By path of the launch that ended them.
  [[nodiscard]] const std::unordered_map<std::uint32_t, ShortGaps>& short_gaps() const noexcept {
    return short_;
  }

 private:
  std::unordered_map<std::uint32_t, TimeNs> busy_until_;  // by GPU
  std::vector<LongGap> long_;
  std::unordered_map<std::uint32_t, ShortGaps> short_;
};

}  // namespace rangefinder
