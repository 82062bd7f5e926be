// SPDX-License-Identifier: Apache-2.0
//
// Interface of one check of `validate`. Each check receives every line in order and is independent of the
// others; validation.cpp runs them in one pass.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "schema/read_line.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

/// By Loss; those of a ledger.
using CountsByCause = std::array<std::uint64_t, kLossCauses.size()>;

/// The ledger counts lines that are not in the files.
[[nodiscard]] constexpr bool lines_lost(const CountsByCause& loss) noexcept {
  constexpr std::array kCauses{Loss::lines_not_written, Loss::lines_over_max_size, Loss::record_sink_errors};
  return std::any_of(kCauses.begin(), kCauses.end(),
                     [&](Loss cause) { return loss[static_cast<std::size_t>(cause)] != 0; });
}

/// Facts about a trace after its last line.
struct TraceFacts {
  std::string folder;
  bool whole = true;      ///< false: a single segment that the user named
  bool is_final = false;  ///< the trace has its `end` line
  EndRecord end;          ///< if is_final
  CountsByCause loss{};   ///< from `end`, otherwise from the last heartbeat

  [[nodiscard]] std::uint64_t lost(Loss cause) const { return loss[static_cast<std::size_t>(cause)]; }
  [[nodiscard]] bool lines_lost() const { return rangefinder::lines_lost(loss); }
  [[nodiscard]] bool anything_lost() const { return loss != CountsByCause{}; }
};

class TraceCheck {
 public:
  /// `problems` must outlive this.
  explicit TraceCheck(ProblemLog& problems) : problems_(problems) {}
  virtual ~TraceCheck() = default;
  /// Called before the first line of each segment.
  virtual void segment(const std::filesystem::path&) {}
  virtual void line(const Line& line) = 0;
  virtual void finish(const TraceFacts&) {}

 protected:
  ProblemLog& problems_;
};

using MakeCheck = std::unique_ptr<TraceCheck> (*)(ProblemLog&);
/// Headers, heartbeats, the end line.
[[nodiscard]] std::unique_ptr<TraceCheck> make_structure_check(ProblemLog& problems);
/// Ids resolve within the segment, parents come first, one id has one content.
[[nodiscard]] std::unique_ptr<TraceCheck> make_identity_check(ProblemLog& problems);
/// Host stacks have a caller with a smaller id and at most kMaxStackDepth levels; samples of a line are in
/// order of time and within it.
[[nodiscard]] std::unique_ptr<TraceCheck> make_stack_check(ProblemLog& problems);
/// Nothing ends before it starts; work without times is in the ledger.
[[nodiscard]] std::unique_ptr<TraceCheck> make_time_check(ProblemLog& problems);
/// Push/pop ranges of a thread nest.
[[nodiscard]] std::unique_ptr<TraceCheck> make_nesting_check(ProblemLog& problems);
/// Lines with a range lie inside it; GPU work has the range of its launch.
[[nodiscard]] std::unique_ptr<TraceCheck> make_placement_check(ProblemLog& problems);
/// One launch per correlation id, a launch for every piece of GPU work, and a kernel line for every exact
/// kernel. The number of launches with records equals that of the ledger.
[[nodiscard]] std::unique_ptr<TraceCheck> make_launch_check(ProblemLog& problems);
/// The line of a counter range counts the launches that share it.
[[nodiscard]] std::unique_ptr<TraceCheck> make_counter_range_check(ProblemLog& problems);
/// The counts of the end line equal those of the lines; launched = recorded + exact + lost.
[[nodiscard]] std::unique_ptr<TraceCheck> make_ledger_check(ProblemLog& problems);
/// In the order in which they report.
inline constexpr std::array<MakeCheck, 9> kMakeChecks{
    make_structure_check, make_identity_check, make_stack_check,         make_time_check,  make_nesting_check,
    make_placement_check, make_launch_check,   make_counter_range_check, make_ledger_check};

}  // namespace rangefinder
