// SPDX-License-Identifier: Apache-2.0
//
// One thing that `validate` looks at. Checks see every line in order and know nothing
// of each other; validation.cpp runs them side by side.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "schema/read_line.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

/// What is known once all lines were read.
struct TraceFacts {
  std::string folder;
  bool whole = true;      ///< all segments were read, not one that the user named
  bool is_final = false;  ///< the `end` line was there
  EndRecord end;          ///< if is_final
  std::array<std::uint64_t, kLossCauses.size()> loss{};  ///< of the end, else of the last heartbeat

  [[nodiscard]] std::uint64_t lost(Loss cause) const { return loss[static_cast<std::size_t>(cause)]; }
  /// Lines that were written, or meant to be, are not in the files, and the ledger says so.
  [[nodiscard]] bool lines_lost() const {
    return lost(Loss::lines_not_written) + lost(Loss::lines_over_max_size) + lost(Loss::record_sink_errors) >
           0;
  }
  [[nodiscard]] bool anything_lost() const {
    for (const std::uint64_t n : loss) {
      if (n != 0) return true;
    }
    return false;
  }
};

/// Lines of things that happened: the end line counts them. The others name things or are about the trace.
[[nodiscard]] bool is_event(std::string_view kind);

class TraceCheck {
 public:
  virtual ~TraceCheck() = default;
  virtual void segment(const SegmentFile&, ProblemLog&) {}
  virtual void line(const Line& line, ProblemLog& problems) = 0;
  virtual void finish(const TraceFacts&, ProblemLog&) {}
};

/// Headers, order of segments, heartbeats, the end.
[[nodiscard]] std::unique_ptr<TraceCheck> make_structure_check();
/// Ids resolve within the segment, parents come first, one id has one content.
[[nodiscard]] std::unique_ptr<TraceCheck> make_identity_check();
/// Nothing ends before it starts; work without times is in the ledger.
[[nodiscard]] std::unique_ptr<TraceCheck> make_time_check();
/// Push/pop ranges of a thread nest.
[[nodiscard]] std::unique_ptr<TraceCheck> make_nesting_check();
/// What names a range was done while it was open, GPU work names the range of its launch.
[[nodiscard]] std::unique_ptr<TraceCheck> make_placement_check();
/// One launch a correlation id, a launch for every piece of GPU work, a kernel line for every exact
/// kernel; as many launches have records as the ledger says.
[[nodiscard]] std::unique_ptr<TraceCheck> make_launch_check();
/// Launches that share a counter range, and that range's line, which counts them.
[[nodiscard]] std::unique_ptr<TraceCheck> make_counter_range_check();
/// The end's counts are those of the lines; launched = recorded + exact + lost.
[[nodiscard]] std::unique_ptr<TraceCheck> make_ledger_check();

}  // namespace rangefinder
