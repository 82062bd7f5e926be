// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/rank_merge.h"

#include <algorithm>
#include <numeric>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/module_table.h"

namespace rangefinder {
namespace {

/// Relative spread below which there is no straggler.
constexpr double kMinSpread = 0.02;
/// Relative spread of the runs' lengths that equal GPU times do not explain.
constexpr double kMinRunSpread = 0.1;

double spread(std::uint64_t least, std::uint64_t most, double mean) {
  return mean <= 0 ? 0 : static_cast<double>(most - least) / mean;
}

}  // namespace

std::string rank_name(const TraceTotals& trace) {
  return trace.header.rank.empty() ? trace.files.folder.string() : "rank " + trace.header.rank;
}

void RankMerge::add(const TraceTotals& trace) {
  Rank& rank = ranks_.emplace_back();
  rank.name = rank_name(trace);
  rank.run_ns = trace.last_ns;
  for (const KernelTotals& kernel : trace.selected().kernels()) {
    rank.gpu_ns += kernel.total_ns;
    rank.kernels += kernel.count;
    const auto name = trace.kernel_names.find(kernel.name);
    if (name != trace.kernel_names.end() && name->second.from_library == "NCCL") {
      rank.communication_ns += kernel.total_ns;
    }
  }
  const RowValues no_bytes(trace);
  for (const PathTotals& row : select_modules(trace, no_bytes, {})) {
    const std::string path = row.path == 0 ? "(outside of any range)" : trace.path_text(row.path);
    const auto [at, fresh] = modules_.try_emplace(path);
    Module& module = at->second;
    if (fresh) module.order = modules_.size();
    module.depth = row.depth;
    module.name = row.path == 0 ? path : trace.own_name(row.path);
    module.gpu_ns.resize(ranks_.size());
    module.gpu_ns.back() = row.gpu_ns;
  }
}

std::vector<Cell> RankMerge::module_row(const std::string& path, const Module& module,
                                        const std::vector<Rank>& ranks) {
  std::vector<std::uint64_t> ns = module.gpu_ns;
  ns.resize(ranks.size());
  const auto [least, most] = std::minmax_element(ns.begin(), ns.end());
  const double mean = static_cast<double>(std::accumulate(ns.begin(), ns.end(), std::uint64_t{0})) /
                      static_cast<double>(ns.size());
  const std::size_t indent = module.depth == 0 ? 0 : 2 * (module.depth - 1);
  Cell slowest;
  if (spread(*least, *most, mean) >= kMinSpread) {
    slowest = Cell(CellValue(ranks[static_cast<std::size_t>(most - ns.begin())].name));
  }
  return {Cell(CellValue(path), std::string(indent, ' ') + module.name),
          Cell(static_cast<std::uint64_t>(mean)),
          Cell(*least),
          Cell(*most),
          Cell(spread(*least, *most, mean)),
          slowest};
}

Table RankMerge::modules(std::uint32_t depth) const {
  Table out;
  out.name = "modules";
  out.title = "GPU time of each module over the ranks";
  out.empty = "No module in any of these traces.";
  out.cut = CutSide::back;
  out.sortable = false;
  out.columns = {{"path", "module", Unit::text},      {"mean_gpu_ns", "mean", Unit::ns},
                 {"min_gpu_ns", "min", Unit::ns, 50}, {"max_gpu_ns", "max", Unit::ns},
                 {"spread", "spread", Unit::share},   {"slowest", "slowest", Unit::text}};
  std::vector<const std::pair<const std::string, Module>*> order;
  for (const auto& entry : modules_) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->second.order < b->second.order; });
  for (const auto* entry : order) {
    if (depth == 0 || entry->second.depth <= depth) {
      out.add(module_row(entry->first, entry->second, ranks_));
    }
  }
  return out;
}

Table RankMerge::ranks(bool has_wait_table) const {
  Table out;
  out.name = "ranks";
  out.title = "Ranks";
  out.columns = {{"rank", "rank", Unit::text},
                 {"own_gpu_ns", "GPU time", Unit::ns},
                 {"communication_ns", "communication", Unit::ns},
                 {"kernels", "kernels", Unit::count}};
  std::vector<Rank> sorted = ranks_;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const Rank& a, const Rank& b) { return a.own_ns() > b.own_ns(); });
  for (const Rank& rank : sorted) {
    out.add(
        {Cell(CellValue(rank.name)), Cell(rank.own_ns()), Cell(rank.communication_ns), Cell(rank.kernels)});
  }
  const std::string slow = straggler();
  if (has_wait_table) {  // the late rank need not be the one with most work
    out.remarks = slow.empty() ? "The ranks' own GPU times differ by less than 2 %.\n"
                               : "Longest own GPU time: " + slow + "; communication is not counted.\n";
  } else {
    out.remarks = slow.empty()
                      ? alike_text()
                      : "Straggler: " + slow + " has the longest GPU time; communication is not counted.\n";
  }
  return out;
}

std::string RankMerge::alike_text() const {
  const auto by_run = [](const Rank& a, const Rank& b) { return a.run_ns < b.run_ns; };
  const auto [least, most] = std::minmax_element(ranks_.begin(), ranks_.end(), by_run);
  const std::string alike = "the ranks' GPU times differ by less than 2 %";
  if (ranks_.empty() ||
      spread(least->run_ns, most->run_ns, static_cast<double>(most->run_ns)) < kMinRunSpread) {
    return "No straggler: " + alike + ".\n";
  }
  return "Although " + alike + ", " + least->name + " ran for " + duration_text(least->run_ns) + " and " +
         most->name + " for " + duration_text(most->run_ns) + ".\n`rangefinder diff` compares two of them.\n";
}

std::string RankMerge::straggler() const {
  if (ranks_.size() < 2) return {};
  const auto by_work = [](const Rank& a, const Rank& b) { return a.own_ns() < b.own_ns(); };
  const auto [least, most] = std::minmax_element(ranks_.begin(), ranks_.end(), by_work);
  double mean = 0;
  for (const Rank& rank : ranks_)
    mean += static_cast<double>(rank.own_ns()) / static_cast<double>(ranks_.size());
  return spread(least->own_ns(), most->own_ns(), mean) < kMinSpread ? "" : most->name;
}

}  // namespace rangefinder
