// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/report_ranks.h"

#include "tools/analysis/findings/findings.h"

namespace rangefinder {

void RankReport::add(const TraceTotals& trace) {
  merge_.add(trace);
  traces_.push_back({rank_name(trace), &trace});
}

void RankReport::put(nlohmann::ordered_json& out, std::uint32_t depth) const {
  out["ranks"] = render_rows(merge_.ranks());
  out["merged"] = render_rows(merge_.modules(depth));
  out["rank_findings"] = findings_json(find_rank_imbalance(traces_));
}

std::string RankReport::text(const TextStyle& style, std::uint32_t depth) const {
  std::string out = render_text(merge_.ranks(), style) + "\n" + render_text(merge_.modules(depth), style);
  const std::vector<Finding> found = find_rank_imbalance(traces_);
  if (!found.empty()) out += "\n" + findings_text(found, style);
  return out;
}

}  // namespace rangefinder
