// SPDX-License-Identifier: Apache-2.0
//
// The summary of a run, with which a report begins: duration, busy and idle time, bytes, main findings.
//
//   rtdetr --model r50 on NVIDIA H200, 1.24 s  (process 4711 on gpu-7; trace demo)
//
//   One iteration   6.02 ms   median of 60 of iteration (p95 6.40 ms; 3 of warm-up excluded)
//     GPU busy       92.1 %
//     GPU idle        7.9 %   host launching 4.0 %, host code 2.1 %, only copies ran 1.8 %
//     DRAM          1.60 GB   1.20 GB read, 0.40 GB written; 289 GB/s, 6.0 % of peak
//
//   chunks ─▶ RunSummaryReader ─▶ IterationLog, IdleCauses, FindingRules ─▶ RunSummary ─▶ text, JSON
//
// Busy and idle are shares of wall time, and add up to 100 %. They and the bytes are sums over the iterations
// that count. Without iterations they are of the time from the first to the last kernel. Causes are shares of
// the idle time that has a known cause (idle_causes.h). With exact counters launches run one at a time, so
// shares and findings about idle time are omitted.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/findings/coverage.h"
#include "tools/analysis/findings/findings.h"
#include "tools/analysis/queries/hints.h"
#include "tools/analysis/queries/host_stacks.h"
#include "tools/analysis/queries/idle_causes.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/queries/whole_trace.h"

namespace rangefinder {

struct RunSummary {
  std::string path;  ///< of the iterations; empty: there are none, and times are of the whole run
  IterationRule rule = IterationRule::none;
  std::size_t count = 0, warm_up = 0;  ///< iterations that count; those of the warm-up, which do not
  std::uint64_t wall_ns = 0;           ///< median of an iteration, or first to last kernel; 0: no GPU work
  std::uint64_t mean_ns = 0;           ///< of the iterations
  std::optional<std::uint64_t> p95_ns, longest_ns;  ///< the first if there are enough iterations
  struct HeldMeans {
    double min = 0, median = 0, max = 0;
  };
  std::optional<HeldMeans> sm_mhz, power_w;  ///< over the means of the iterations that count
  std::optional<double> busy_share;          ///< time with a kernel; absent: exact counters
  IdleTime idle{};                           ///< by cause, summed
  std::optional<MainFunction> host_code;     ///< the function with most of IdleCause::host_code
  std::optional<MainFunction> host_waiting;  ///< and of IdleCause::waiting
  bool exact = false;       ///< exact counters run launches one at a time, which lengthens the wall time
  std::uint64_t calls = 0;  ///< the bytes below are the sum of this many iterations, or of the run
  std::optional<RowBytes> bytes;  ///< absent: not measured
  SampleNeed need;                ///< of the same work, if its bytes are sampled
  Derived derived;                ///< rate and share of peak; only of iterations that a range marks
  Coverage coverage;
  std::vector<Finding> findings;
  std::vector<CannotTell> cannot_tell;
  std::vector<std::uint32_t> iteration_paths;  ///< for the module tree: outermost paths around the iterations
  std::uint32_t depth = 0;                     ///< of the iterations' path; 0: no range marks them
};

/// Reads what the summary shows.
class RunSummaryReader {
 public:
  static const Columns kColumns;
  RunSummaryReader() = default;
  RunSummaryReader(const RunSummaryReader&) = delete;
  RunSummaryReader& operator=(const RunSummaryReader&) = delete;

  /// The iterations of the whole trace.
  void start(const Iterations& iterations);
  /// Every chunk, in order.
  void add(const SelectedRows& rows) { rules_->add(rows); }
  /// After the last chunk, while the trace is there: it may need the chunks again.
  void finish(const EachRows& each) { rules_->finish(each); }
  /// SectionInput::counted: the part from counted_from() on, of which coverage and bytes are.
  [[nodiscard]] RunSummary result(const SectionInput& input);
  /// After finish(): the first iteration that counts; nullopt: the summary is of the whole run.
  [[nodiscard]] std::optional<std::size_t> counted_from() const;
  /// After finish(): of the iterations that count, the one whose wall time is nearest to the median, the
  /// first of several; nullopt: the summary is of the whole run.
  [[nodiscard]] std::optional<std::size_t> median_iteration() const;
  /// After finish(): times of all iterations.
  [[nodiscard]] const IterationLog& log() const;
  /// After finish(): the iterations that count; empty: the summary is of the whole run.
  [[nodiscard]] std::vector<std::size_t> counted() const;

 private:
  /// Exact counters run launches one at a time.
  [[nodiscard]] bool exact() const;
  void add_times(const TraceTotals& trace, RunSummary& out) const;
  void add_run(const TraceTotals& trace, RunSummary& out) const;
  /// The functions with most of the idle time in these iterations; of all times, if there are none.
  void add_functions(const TraceTotals& trace, const std::vector<std::size_t>& iterations,
                     RunSummary& out) const;
  void add_bytes(const SectionInput& input, RunSummary& out) const;
  void add_paths(const TraceTotals& trace, RunSummary& out) const;

  Iterations iterations_;
  std::optional<IdleCauses> idle_;
  std::optional<FindingRules> rules_;
};

/// Of a trace with RunSummaryReader::kColumns.
[[nodiscard]] RunSummary run_summary_of(WholeTrace& trace);

/// What run_summary_text() and next_step_text() are made of, without wrapping.
struct Opening {
  /// What, how much, and more about it.
  struct Line {
    enum class About : std::uint8_t { time, busy, idle, bytes };
    About of;
    std::string label, value, about;
  };
  /// What to do, code for it, and the command that shows more.
  struct NextStep {
    std::string what, code, about, command;
  };
  std::vector<std::string> title;     ///< program and GPU; the recording
  std::vector<std::string> warnings;  ///< first of all: what is not covered, what limited the run
  std::vector<Line> lines;            ///< empty: there was no GPU work
  std::string findings;               ///< their number; without findings a sentence
  NextStep next;
};
[[nodiscard]] Opening opening_of(const TraceTotals& trace, const RunSummary& run);
/// "SM 1,980 MHz (1,965 to 1,980), 412 W (…)", of the counted iterations; empty: unknown.
[[nodiscard]] std::string held_means_text(const RunSummary& run);

/// As shown above, then the titles of the first three findings.
[[nodiscard]] std::string run_summary_text(const TraceTotals& trace, const RunSummary& run,
                                           const TextStyle& style);

/// What to do about the first finding, and the command that shows all; without findings, what to look at.
[[nodiscard]] std::string next_step_text(const TraceTotals& trace, const RunSummary& run,
                                         const TextStyle& style);
/// The same as run_summary_text() and next_step_text(), as Markdown.
[[nodiscard]] std::string run_summary_markdown(const TraceTotals& trace, const RunSummary& run);

/// {wall_ns, coverage: {share, why, text}, iteration: {path, rule, count, warm_up, mean_ns, p95_ns,
/// longest_ns}, gpu_busy_share, gpu_idle_share, idle_shares: {launching: 0.04, …}, dram_read_bytes, …}:
/// shares are of the wall time, bytes of one iteration.
[[nodiscard]] nlohmann::ordered_json run_summary_json(const RunSummary& run);
/// {path, count, sm_mhz: {min, median, max}, power_w: {…}}: conditions by iteration; null: unknown.
[[nodiscard]] nlohmann::ordered_json iteration_conditions_json(const RunSummary& run);

}  // namespace rangefinder
