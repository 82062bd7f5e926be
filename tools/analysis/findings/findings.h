// SPDX-License-Identifier: Apache-2.0
//
// Runs all rules over one trace.
//
//   chunks ─▶ FindingRules::add ─▶ FindingFacts          one pass, one join
//             findings() ─▶ rules ─▶ Findings, largest saving first ─▶ findings_json, findings_text
//
// docs/findings.md lists the input of each rule, its threshold and the reason. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/findings/finding.h"
#include "tools/analysis/findings/rules.h"
#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {

struct FindingContext;
class FindingFacts;
class Iterations;

class FindingRules {
 public:
  /// `iterations`: those of the whole trace; they must outlive this.
  explicit FindingRules(const Iterations& iterations);
  FindingRules(const Iterations& iterations, std::unique_ptr<FindingFacts> facts);
  ~FindingRules();
  FindingRules(const FindingRules&) = delete;
  FindingRules& operator=(const FindingRules&) = delete;

  static const Columns kColumns;
  /// Call it for each chunk of the trace, in order.
  void add(const SelectedRows& rows);
  /// Call it after the last chunk, while the trace is there: it may need the chunks again.
  void finish(const EachRows& each);
  /// Both.
  void read(const EachRows& each) {
    each([this](const SelectedRows& rows) { add(rows); });
    finish(each);
  }
  /// Largest saving first; findings without a saving come last, with SectionView::all what happens outside of
  /// the loop after these.
  [[nodiscard]] std::vector<Finding> findings(const SectionInput& input);
  /// Rules that lacked data. Call it after findings().
  [[nodiscard]] const std::vector<CannotTell>& cannot_tell() const noexcept { return cannot_tell_; }
  [[nodiscard]] const FindingFacts& facts() const noexcept { return *facts_; }
  /// Of the loop, as the rules see it. `input` must outlive it.
  [[nodiscard]] FindingContext context(const SectionInput& input);

 private:
  const Iterations& iterations_;
  std::unique_ptr<FindingFacts> facts_;
  std::vector<CannotTell> cannot_tell_;
};

/// [{id, severity, title, where, prize_ns, evidence {key: value}, next_step, …}]
[[nodiscard]] nlohmann::ordered_json findings_json(const std::vector<Finding>& findings);

/// One line per finding, then one paragraph per finding; one line if there is none. `folder`: of the trace,
/// for commands.
[[nodiscard]] std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style,
                                        const std::string& folder = "DIR");
/// The code of a finding; commands about its trace have `folder`, quoted for a shell.
[[nodiscard]] std::string typed_command(std::string code, const std::string& folder);
/// [{id, needs}]
[[nodiscard]] nlohmann::ordered_json cannot_tell_json(const std::vector<CannotTell>& rules);
/// One line for each kind of data that rules lacked; empty: they had all.
[[nodiscard]] std::string cannot_tell_text(const std::vector<CannotTell>& rules, const TextStyle& style);

/// "info", "notable", "serious".
[[nodiscard]] std::string_view severity_name(Severity severity) noexcept;

}  // namespace rangefinder
