// SPDX-License-Identifier: Apache-2.0
//
// Runs all rules over one trace.
//
//   lines ─▶ FindingRules::line ─▶ KernelFacts, JoinedWork ─▶ each rule      one pass, one join
//                                  findings() ─▶ rules read the totals ─▶ Findings, largest saving first
//                                                               └─▶ findings_json, findings_text
//
// docs/findings.md lists the input of each rule, its threshold and the reason. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schema/read_line.h"
#include "tools/analysis/findings/finding.h"
#include "tools/analysis/findings/rule_table.h"
#include "tools/analysis/table/table_render.h"
#include "tools/analysis/tables/section.h"

namespace rangefinder {

class FindingRule;
class Iterations;

class FindingRules {
 public:
  /// `iteration_range`: glob of the range that marks iterations; empty: guess (iterations.h).
  explicit FindingRules(const std::string& iteration_range = {});
  /// The caller knows the iterations of the whole trace; they must outlive this.
  explicit FindingRules(const Iterations& iterations);
  ~FindingRules();
  FindingRules(const FindingRules&) = delete;
  FindingRules& operator=(const FindingRules&) = delete;

  /// Gives the lines and the joined work to another rule too. Call it before the first line.
  void add(std::unique_ptr<FindingRule> rule);
  /// Takes every selected line of the trace, in file order.
  void line(const Line& line);
  /// Call once, after the last line. Largest saving first; findings without a saving come last, with
  /// SectionView::all what happens outside of the loop after these. If only some lines were selected, this
  /// reads the trace again: iterations come from the whole trace. Throws Missing if that fails, or if no
  /// range matches `iteration_range`.
  [[nodiscard]] std::vector<Finding> findings(const SectionInput& input);
  /// Rules that lacked data. Call it after findings().
  [[nodiscard]] const std::vector<CannotTell>& cannot_tell() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// [{id, severity, title, where, prize_ns, evidence {key: value}, next_step, …}]
[[nodiscard]] nlohmann::ordered_json findings_json(const std::vector<Finding>& findings);

/// One line per finding, then one paragraph per finding; one line if there is none.
[[nodiscard]] std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style);
/// [{id, needs}]
[[nodiscard]] nlohmann::ordered_json cannot_tell_json(const std::vector<CannotTell>& rules);
/// One line for each kind of data that rules lacked; empty: they had all.
[[nodiscard]] std::string cannot_tell_text(const std::vector<CannotTell>& rules, const TextStyle& style);

/// "info", "notable", "serious".
[[nodiscard]] std::string_view severity_name(Severity severity) noexcept;

/// `report --section findings`.
[[nodiscard]] std::unique_ptr<Section> make_findings_section(const SectionView& view);

}  // namespace rangefinder
