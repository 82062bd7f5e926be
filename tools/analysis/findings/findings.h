// SPDX-License-Identifier: Apache-2.0
//
// All rules over one trace.
//
//   lines ─▶ FindingRules::line ─▶ KernelFacts, JoinedWork ─▶ each rule      one pass, one join
//                                  findings() ─▶ rules look at the totals ─▶ Findings, heaviest prize first
//                                                               └─▶ findings_json, findings_text
//
// docs/findings.md says of each rule what it looks at, its threshold and why. Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "schema/read_line.h"
#include "tools/analysis/findings/finding.h"
#include "tools/analysis/tables/section.h"
#include "tools/analysis/tables/table_render.h"

namespace rangefinder {

class FindingRules {
 public:
  /// `iteration_range`: which range repeats, a glob; empty: guess (iterations.h).
  explicit FindingRules(const std::string& iteration_range = {});
  ~FindingRules();
  FindingRules(const FindingRules&) = delete;
  FindingRules& operator=(const FindingRules&) = delete;

  /// Every line of the trace that was selected, in file order.
  void line(const Line& line);
  /// Once, after the last line. Heaviest prize first, those without a prize last. Where not all lines were
  /// selected it reads the trace again, since iterations are those of all of it. Throws Missing if that
  /// fails, or where no range has the path that was named.
  [[nodiscard]] std::vector<Finding> findings(const SectionInput& input);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// [{id, severity, title, where, saving_ns, evidence {key: value}, next_step}]
[[nodiscard]] nlohmann::ordered_json findings_json(const std::vector<Finding>& findings);

/// A paragraph a finding; one line that says so where there is none.
[[nodiscard]] std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style);

/// "info", "notable", "serious".
[[nodiscard]] std::string_view severity_name(Severity severity) noexcept;

/// `report --section findings`.
[[nodiscard]] std::unique_ptr<Section> make_findings_section(const SectionView& view);

}  // namespace rangefinder
