// SPDX-License-Identifier: Apache-2.0
#include "tools/page/finding_links.h"

#include <nlohmann/json.hpp>
#include <variant>
#include <vector>

#include "profiler/base/iteration_names.h"

namespace rangefinder {

FindingLinks::FindingLinks(const TraceTotals& trace, const PageIndices& indices) : indices_(indices) {
  const std::vector<PathTotals> rows = trace.totals.paths();
  std::unordered_map<std::string, const PathTotals*> folded;  // the heaviest of each family, in `rows`
  for (const PathTotals& row : rows) {
    if (row.path == 0 || !indices.has_module(row.path)) continue;
    const std::string text = trace.path_text(row.path);
    const PathTotals*& heaviest = folded[numbers_folded(text)];
    if (heaviest == nullptr || row.gpu_ns > heaviest->gpu_ns) heaviest = &row;
    paths_.emplace(text, row.path);
  }
  for (const auto& [name, row] : folded) paths_.emplace(name, row->path);
}

std::optional<std::uint32_t> FindingLinks::path(const std::string& name) const {
  const auto at = paths_.find(name);
  return at == paths_.end() ? std::nullopt : std::optional(at->second);
}

nlohmann::ordered_json FindingLinks::of(const Finding& finding) const {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  const auto add = [&](const std::string& name) {
    if (const auto id = path(name)) out[name] = {{"module", indices_.module(*id)}};
  };
  add(finding.where);
  for (const FindingPart& part : finding.modules) add(part.where);
  for (const Evidence& one : finding.evidence) {
    if (const auto* const text = std::get_if<std::string>(&one.value)) add(*text);
  }
  if (finding.kernel_id && indices_.kernel(*finding.kernel_id) >= 0)
    out[finding.kernel] = {{"kernel", indices_.kernel(*finding.kernel_id)}};
  return out;
}

}  // namespace rangefinder
