// SPDX-License-Identifier: Apache-2.0
//
// One rule: what it is shown and what it is asked.
//
//   FindingRules ─▶ line(), work() while the trace is read ─▶ find(context) once ─▶ Findings
//
// A rule keeps what grows with paths, names and streams; the ones that keep more say how much at most.
// It says nothing where the trace cannot know: a missing metric, host times that the profiler itself
// stretched (FindingContext::host_times_hold).
#pragma once

#include <cstdint>
#include <memory>
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

/// What a program repeats, without the first repetition where there are three or more: that one warms up.
struct Loop {
  std::string path;                         ///< of the range that is repeated; empty: there is no loop
  std::uint64_t count = 0;                  ///< repetitions that are looked at
  TimeNs start_ns = 0, end_ns = 0;          ///< from the first of these to the end of the last
  std::unordered_set<std::uint32_t> paths;  ///< of the range and all below it

  [[nodiscard]] bool found() const noexcept { return count != 0; }
  [[nodiscard]] std::uint64_t length_ns() const noexcept { return elapsed_ns(start_ns, end_ns); }
  [[nodiscard]] bool holds(TimeNs time) const noexcept { return time >= start_ns && time < end_ns; }
};

struct FindingContext {
  const SectionInput& input;
  const KernelFacts& kernels;
  const GpuGaps& gaps;
  const EventLog& log;
  const Iterations& iterations;
  Loop loop;
  /// False: exact windows serialise launches and put time of their own between them.
  bool host_times_hold = true;
  /// What prizes are measured against: the loop, else from the first to the last GPU work.
  std::uint64_t span_ns = 0;

  /// Inside the loop; everywhere, where there is none.
  [[nodiscard]] bool in_loop(TimeNs time) const noexcept { return !loop.found() || loop.holds(time); }
  /// "(outside of any range)" for 0.
  [[nodiscard]] std::string path_text(std::uint32_t path) const;
  /// Without parameters; template arguments only where the whole is short enough: they tell kernels apart.
  [[nodiscard]] std::string kernel_text(std::uint32_t name) const;
  /// Demangled, whole; empty: unknown.
  [[nodiscard]] const std::string& kernel_name(std::uint32_t name) const;
  /// nullptr: the trace names no GPU of that kind.
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

/// A rule that looks at one kernel after the other, longest total first, until it has found enough.
class KernelRule : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) final;

 protected:
  /// Appends one finding and returns true, or neither.
  virtual bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) = 0;
};

/// A rule a file in rules/.
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

/// All rules that look at one trace, in the order in which docs/findings.md lists them.
[[nodiscard]] std::vector<std::unique_ptr<FindingRule>> make_finding_rules();

/// 3 % and 10 % of the span.
[[nodiscard]] Severity severity_of(std::uint64_t saving_ns, std::uint64_t span_ns);

// Evidence in one line.
[[nodiscard]] Evidence evidence_ns(std::string key, std::string text, std::uint64_t ns);
[[nodiscard]] Evidence evidence_count(std::string key, std::string text, std::uint64_t count);
[[nodiscard]] Evidence evidence_bytes(std::string key, std::string text, std::uint64_t bytes);
[[nodiscard]] Evidence evidence_share(std::string key, std::string text, double share);
[[nodiscard]] Evidence evidence_factor(std::string key, std::string text, double factor);
[[nodiscard]] Evidence evidence_rate(std::string key, std::string text, double bytes_per_s);
[[nodiscard]] Evidence evidence_number(std::string key, std::string text, double number);
[[nodiscard]] Evidence evidence_text(std::string key, std::string text, std::string value);

/// "layers/12" ─▶ "layers/*": modules that differ in a number are one finding.
[[nodiscard]] std::string numbers_folded(std::string_view path_text);

}  // namespace rangefinder
