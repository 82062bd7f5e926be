// SPDX-License-Identifier: Apache-2.0
#include "tools/lake/rank_sums.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace rangefinder {

RankSums::RankSums(WholeTrace& trace, const LakeTexts& texts) : trace_(trace), texts_(texts) {
  work_.begin(trace.iterations());
  trace.each([this](const SelectedRows& rows) {
    work_.add(rows);
    add_kernels(rows);
  });
  work_.finish();
  read_findings();
}

void RankSums::add_kernels(const SelectedRows& rows) {
  std::pair<std::uint32_t, std::uint32_t> last{UINT32_MAX, UINT32_MAX};
  KernelSums* sums = nullptr;
  rows.all_work(Column::work_times | Column::work_path | Column::work_name, [&](const auto& record) {
    if constexpr (std::is_same_v<std::decay_t<decltype(record)>, KernelRecord>) {
      const std::pair place(record.work.path, record.name);
      if (sums == nullptr || place != last) {
        const auto [at, is_new] = kernels_.try_emplace(place);
        sums = &at->second;
        last = place;
        if (is_new) {
          sums->module = texts_.module(record.work.path);
          sums->kernel = texts_.kernel(record.name);
          sums->from_library = texts_.from_library(record.name);
        }
      }
      const std::uint64_t ns = duration_ns(record.work.start_ns, record.work.end_ns);
      ++sums->kernels;
      sums->gpu_ns += ns;
      sums->min_ns = std::min(sums->min_ns, ns);
      sums->max_ns = std::max(sums->max_ns, ns);
    }
  });
}

void RankSums::set_costs(ModuleSums& sums) const {
  const IterationLog& log = work_.iterations();
  for (std::size_t i = 0; i < work_.size(); ++i) {
    if (!log.rows().empty() && !log.counts(i)) continue;
    ++sums.iterations;
    for (std::size_t cost = 0; cost < kRankCosts; ++cost)
      sums.costs[cost] += work_.ns(static_cast<RankCost>(cost), sums.row.path, i);
  }
}

void RankSums::read_findings() {
  if (!trace_.totals().files.has_summary) return;
  std::ifstream file(trace_.totals().files.folder / "summary.json", std::ios::binary);
  const nlohmann::json summary = nlohmann::json::parse(file, nullptr, false);
  if (!summary.is_object() || !summary.contains("findings") || !summary["findings"].is_array()) return;
  const auto text = [this](const nlohmann::json& row, const char* key) {
    return texts_.valid(row.contains(key) && row[key].is_string() ? row[key].get<std::string>()
                                                                  : std::string());
  };
  for (const nlohmann::json& row : summary["findings"]) {
    if (!row.is_object()) continue;
    FindingRow& out = findings_.emplace_back();
    out.id = text(row, "id");
    out.severity = text(row, "severity");
    out.title = text(row, "title");
    out.where = text(row, "where");
    out.kernel = text(row, "kernel");
    out.why = text(row, "why");
    out.next_step = text(row, "next_step");
    if (row.contains("prize_ns") && row["prize_ns"].is_number_unsigned())
      out.saving_ns = row["prize_ns"].get<std::uint64_t>();
    if (row.contains("share") && row["share"].is_number()) out.share = row["share"].get<double>();
  }
}

}  // namespace rangefinder
