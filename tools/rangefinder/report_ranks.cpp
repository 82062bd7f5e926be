// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/report_ranks.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/analysis/findings/findings.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

constexpr std::size_t kRanksShown = 10;

/// As people see it.
std::string shown(Table table, const TextStyle& style) {
  keep_columns(table, &Outputs::text);
  return render_text(without_empty_columns(std::move(table)), style);
}

}  // namespace

void put_ranks(const Job& job, nlohmann::ordered_json& out, std::uint32_t depth) {
  out["missing_ranks"] = render_rows(missing_table(missing_ranks(job)));
  out["stragglers"] = render_rows(straggler_table(job));
  out["ranks"] = render_rows(rank_table(job));
  out["clocks"] = render_rows(clock_table(job));
  out["rank_waits"] = render_rows(wait_table(job));
  out["merged"] = render_rows(job_module_table(job, depth, false));
  out["rank_findings"] = findings_json(find_rank_imbalance(job));
}

bool tell_absent(const Header& header) {
  const std::string text = absent_text({&header});
  if (!text.empty()) std::cerr << "Missing: " << text << ".\n";
  return !text.empty();
}

std::string ranks_text(const Job& job, const TextStyle& style, std::uint32_t depth, bool everything) {
  std::string out = missing_text(missing_ranks(job)) +
                    (everything ? straggler_lines(job) : "A selection does not show who is late.\n");
  if (!out.empty()) out = wrapped_lines(out, style.width) + "\n";
  if (const std::string lines = lateness_lines(job, style.width); everything && !lines.empty())
    out += lines + "\n";
  Table ranks = rank_table(job, kRanksShown);
  if (!everything) ranks.remarks.clear();
  out += shown(std::move(ranks), style) + "\n";
  if (!job.compared.iterations.empty()) out += shown(job_module_table(job, depth, true), style);
  const std::vector<Finding> found = everything ? find_rank_imbalance(job) : std::vector<Finding>();
  if (!found.empty()) out += "\n" + findings_text(found, style);
  if (const Table clocks = clock_table(job); !clocks.remarks.empty()) out += "\n" + clocks.remarks;
  if (!everything || job.compared.stragglers.empty()) return out;
  const TraceTotals& late = *job.ranks[job.compared.stragglers.front().rank].trace;
  return out + "\nNext, the late rank by itself, with findings:\n  rangefinder report " +
         quoted_for_shell(late.files.folder.string()) + "\n";
}

}  // namespace rangefinder
