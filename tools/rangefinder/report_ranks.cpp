// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/report_ranks.h"

#include <nlohmann/json.hpp>

namespace rangefinder {

void RankReport::add(const TraceTotals& trace, const CommunicationLog& log) {
  merge_.add(trace);
  traces_.push_back({rank_name(trace), &trace});
  logs_.push_back({rank_name(trace), &trace.header, &log});
}

RankReport::Compared RankReport::compare() const {
  std::vector<const Header*> headers;
  std::vector<const CommunicationLog*> logs;
  for (const RankLog& rank : logs_) {
    headers.push_back(rank.header);
    logs.push_back(rank.log);
  }
  const std::vector<RankClock> clocks = align_clocks(headers);
  const RankWaits waits = compare_collectives(logs, clocks);
  return {clock_rows(logs_, clocks, waits), wait_rows(logs_, waits)};
}

void RankReport::put(nlohmann::ordered_json& out, std::uint32_t depth) const {
  const Compared compared = compare();
  out["ranks"] = render_rows(merge_.ranks());
  out["clocks"] = render_rows(compared.clocks);
  out["rank_waits"] = render_rows(compared.waits);
  out["merged"] = render_rows(merge_.modules(depth));
  out["rank_findings"] = findings_json(find_rank_imbalance(traces_));
}

std::string RankReport::text(const TextStyle& style, std::uint32_t depth) const {
  const Compared compared = compare();
  std::string out = render_text(merge_.ranks(!compared.waits.rows.empty()), style) + "\n";
  if (!compared.waits.rows.empty()) out += render_text(compared.waits, style) + "\n";
  out += render_text(compared.clocks, style) + "\n" + render_text(merge_.modules(depth), style);
  const std::vector<Finding> found = find_rank_imbalance(traces_);
  if (!found.empty()) out += "\n" + findings_text(found, style);
  return out;
}

}  // namespace rangefinder
