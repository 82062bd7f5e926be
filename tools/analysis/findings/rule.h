// SPDX-License-Identifier: Apache-2.0
//
// One rule: its input and its result.
//
//   FindingRules ─▶ line(), work() while the trace is read ─▶ find(context) once ─▶ Findings
//
// A rule's memory grows with paths, names and streams; a rule that keeps more documents its bound.
// It reports nothing if the trace lacks the data: a missing metric, or host times that the profiler itself
// distorted (FindingContext::host_times_hold).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "schema/read_line.h"
#include "tools/analysis/findings/event_log.h"
#include "tools/analysis/findings/finding.h"
#include "tools/analysis/findings/gpu_gaps.h"
#include "tools/analysis/findings/joined_work.h"
#include "tools/analysis/findings/kernel_facts.h"
#include "tools/analysis/read/iterations.h"
#include "tools/analysis/tables/section.h"

namespace rangefinder {

/// The program's loop, from three iterations on. Excludes the first iteration, which warms up.
struct Loop {
  std::string path;                         ///< of the range that marks an iteration; empty: there is no loop
  std::uint64_t count = 0;                  ///< analysed iterations
  TimeNs start_ns = 0, end_ns = 0;          ///< from the first of these to the end of the last
  std::uint32_t thread = 0;                 ///< that runs them
  std::unordered_set<std::uint32_t> paths;  ///< of the range and all below it

  [[nodiscard]] bool found() const noexcept { return count != 0; }
  [[nodiscard]] bool holds(TimeNs time) const noexcept { return time >= start_ns && time < end_ns; }
};

struct FindingContext {
  const SectionInput& input;
  const KernelFacts& kernels;
  const GpuGaps& gaps;
  const EventLog& log;
  const Iterations& iterations;
  Loop loop;
  /// False: exact windows serialise launches and add time of their own between them.
  bool host_times_hold = true;
  /// The analysed time: the loop without the holds of its thread, else from the first to the last GPU work.
  /// Savings are shares of it.
  std::uint64_t span_ns = 0;
  /// Mean cost of recording a launch, for the launching thread. Absent: the trace does not have it.
  std::optional<std::uint64_t> launch_cost_ns = {};

  /// `ns` without the cost of recording `launches`; absent if that is unknown.
  [[nodiscard]] std::optional<std::uint64_t> net_ns(std::uint64_t ns, std::uint64_t launches) const;
  /// Adds that cost to the evidence of a saving that is net of it.
  void add_cost(Finding& finding, std::uint64_t launches) const;

  /// True inside the loop; always true if there is no loop.
  [[nodiscard]] bool in_loop(TimeNs time) const noexcept { return !loop.found() || loop.holds(time); }
  /// "(outside of any range)" for 0.
  [[nodiscard]] std::string path_text(std::uint32_t path) const;
  /// Without parameters. Keeps template arguments, which distinguish kernels, unless that is too long.
  [[nodiscard]] std::string kernel_text(std::uint32_t name) const;
  /// Demangled, whole; empty: unknown.
  [[nodiscard]] const std::string& kernel_name(std::uint32_t name) const;
  /// The first GPU of the trace; nullptr: the trace names none.
  [[nodiscard]] const GpuRecord* gpu() const;
};

class FindingRule {
 public:
  virtual ~FindingRule() = default;
  virtual void line(const Line&) {}
  /// In order of start, with few exceptions (joined_work.h).
  virtual void work(const WorkEvent&) {}
  virtual void find(const FindingContext& context, std::vector<Finding>& out) = 0;
};

/// A rule that checks one kernel at a time, longest total first, until it has kMaxFindings.
class KernelRule : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) final;

 protected:
  /// Appends one finding and returns true, or appends none and returns false.
  virtual bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) = 0;
};

// One file per rule in rules/.
[[nodiscard]] std::unique_ptr<FindingRule> make_idle_in_range_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_launch_bound_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_synchronisation_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_allocations_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_slow_copies_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_small_copies_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_exposed_wait_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_slower_together_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_memory_bound_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_time_follows_bytes_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_amplification_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_unfused_chain_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_attention_scores_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_fp32_math_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_uncoalesced_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_bank_conflicts_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_spills_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_small_grid_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_low_occupancy_rule();
[[nodiscard]] std::unique_ptr<FindingRule> make_capture_safety_rule();

/// All rules over a single trace, in the order of docs/findings.md.
[[nodiscard]] std::vector<std::unique_ptr<FindingRule>> make_finding_rules();

/// 3 % and 10 % of the span.
[[nodiscard]] Severity severity_of(std::uint64_t saving_ns, std::uint64_t span_ns);

// Short constructors of Evidence, one per unit.
[[nodiscard]] Evidence evidence_ns(std::string key, std::string text, std::uint64_t ns);
[[nodiscard]] Evidence evidence_count(std::string key, std::string text, std::uint64_t count);
[[nodiscard]] Evidence evidence_bytes(std::string key, std::string text, std::uint64_t bytes);
[[nodiscard]] Evidence evidence_share(std::string key, std::string text, double share);
[[nodiscard]] Evidence evidence_factor(std::string key, std::string text, double factor);
[[nodiscard]] Evidence evidence_rate(std::string key, std::string text, double bytes_per_s);
[[nodiscard]] Evidence evidence_number(std::string key, std::string text, double number);
[[nodiscard]] Evidence evidence_text(std::string key, std::string text, std::string value);

/// "layers/12" ─▶ "layers/*": modules that differ only in a number become one finding.
[[nodiscard]] std::string numbers_folded(std::string_view path_text);

}  // namespace rangefinder
