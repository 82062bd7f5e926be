// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/ranks/job.h"

namespace rangefinder {
namespace {

/// Those that do not wait for the GPU.
constexpr std::array<RankCost, 3> kDriverCalls{RankCost::launching, RankCost::copy_calls, RankCost::memory};
/// Relative spread below which no rank is the slowest.
constexpr double kMinSlower = 0.02;
/// Relative spread of the runs' lengths that equal GPU times do not explain.
constexpr double kMinRunSpread = 0.1;

Cell ns_cell(double ns) {
  return number_cell(whole_ns(ns));
}

double spread(double min, double max, double mean) {
  return mean <= 0 ? 0 : (max - min) / mean;
}

std::uint64_t exposed_ns(const CommunicationLog& log) {
  std::uint64_t sum = 0;
  for (const auto& [gpu, overlap] : log.overlaps()) sum += overlap.exposed_ns;
  return sum;
}

std::string clock_text(const RankClock& clock, std::size_t rank) {
  if (rank == 0) return "the others are placed by it";
  return clock.same_host ? "shared with the first" : "another host's";
}

/// Of the whole run.
struct RankTotals {
  std::uint64_t gpu_ns = 0, communication_ns = 0, kernels = 0;
  [[nodiscard]] std::uint64_t own_ns() const { return gpu_ns - communication_ns; }
};

RankTotals totals_of(const JobRank& rank) {
  RankTotals out;
  for (const KernelTotals& kernel : rank.trace->selected().kernels()) {
    out.gpu_ns += kernel.total_ns;
    out.kernels += kernel.count;
    if (rank.trace->communicates(kernel.name)) out.communication_ns += kernel.total_ns;
  }
  return out;
}

/// Means of the compared iterations.
struct RankMeans {
  double waited_for_ns = 0, waited_ns = 0, transfer_ns = 0, calls_ns = 0;
};

RankMeans means_of(const Job& job, std::size_t rank) {
  RankMeans out;
  const JobIterations& iterations = job.compared.iterations;
  for (const RankCost cost : kDriverCalls) out.calls_ns += job.modules.total_ns(cost, rank, iterations);
  const auto count = static_cast<double>(std::max<std::size_t>(1, iterations.size()));
  for (const std::size_t i : iterations) {
    const IterationWait wait = job.waits.wait(rank, i);
    out.waited_for_ns += job.waits.waited_for_ns(rank, i) / count;
    out.waited_ns += static_cast<double>(wait.waited_ns) / count;
    out.transfer_ns += static_cast<double>(wait.transfer_ns) / count;
  }
  return out;
}

/// Of ranks whose waits are unknown: who has most work.
std::string work_text(const Job& job, const std::vector<RankTotals>& totals) {
  if (totals.size() < 2) return {};
  std::size_t least = 0, most = 0, shortest = 0, longest = 0;
  double mean = 0;
  const auto run_ns = [&job](std::size_t r) { return static_cast<double>(job.ranks[r].trace->last_ns); };
  for (std::size_t r = 0; r < totals.size(); ++r) {
    mean += static_cast<double>(totals[r].own_ns()) / static_cast<double>(totals.size());
    if (totals[r].own_ns() < totals[least].own_ns()) least = r;
    if (totals[r].own_ns() > totals[most].own_ns()) most = r;
    if (run_ns(r) < run_ns(shortest)) shortest = r;
    if (run_ns(r) > run_ns(longest)) longest = r;
  }
  const double work_spread =
      spread(static_cast<double>(totals[least].own_ns()), static_cast<double>(totals[most].own_ns()), mean);
  if (work_spread >= kMinSlower) {
    return "Straggler: " + job.ranks[most].name +
           " has the longest GPU time; no collectives show who waited for whom.\n";
  }
  const std::string alike = "the ranks' GPU times differ by less than 2 %";
  if (spread(run_ns(shortest), run_ns(longest), run_ns(longest)) < kMinRunSpread)
    return "No straggler: " + alike + ".\n";
  return "Although " + alike + ", " + job.ranks[shortest].name + " ran for " +
         duration_text(job.ranks[shortest].trace->last_ns) + " and " + job.ranks[longest].name + " for " +
         duration_text(job.ranks[longest].trace->last_ns) + ".\n`rangefinder diff` compares two of them.\n";
}

/// The smallest, the largest and the mean over the ranks that have the module.
struct Over {
  double min = 0, max = 0, mean = 0;
  std::size_t slowest = SIZE_MAX, ranks = 0;
};

Over over(const std::vector<std::vector<double>>& ns, const std::vector<std::vector<bool>>& has,
          std::size_t module) {
  Over out;
  for (std::size_t r = 0; r < ns.size(); ++r) {
    if (!has[r][module]) continue;
    const double value = ns[r][module];
    if (out.ranks == 0 || value < out.min) out.min = value;
    if (out.ranks == 0 || value > out.max) {
      out.max = value;
      out.slowest = r;
    }
    out.mean += value;
    ++out.ranks;
  }
  out.mean /= static_cast<double>(std::max<std::size_t>(1, out.ranks));
  if (spread(out.min, out.max, out.mean) < kMinSlower) out.slowest = SIZE_MAX;
  return out;
}

}  // namespace

std::string compared_text(const Job& job) {
  const auto no_rows = [](const JobRank& rank) { return rank.work->iterations().rows().empty(); };
  if (std::all_of(job.ranks.begin(), job.ranks.end(), no_rows)) return "whole run";
  return "mean of " + counted_text(job.compared.iterations.size(), "iteration", "iterations");
}

Table rank_table(const Job& job, std::size_t max) {
  Table table;
  table.name = "ranks";
  const bool by_iteration = !job.compared.iterations.empty() && job.waits.collectives != 0;
  table.title = by_iteration ? "Ranks, " + compared_text(job) : "Ranks";
  table.columns = {
      {"rank", "rank"},
      {"host", "host"},
      {"gpu", "GPU"},
      {"waited_for_ns", "others waited", Unit::ns},
      {"waited_ns", "exposed wait", Unit::ns},
      {"transfer_ns", "exposed transfer", Unit::ns},
      {"kernels_ns", "own kernels", Unit::ns},
      {"copies_ns", "copies", Unit::ns, 60},
      {"host_ns", "host code", Unit::ns},
      {"calls_ns", "driver calls", Unit::ns, 70},
      {"own_gpu_ns", "GPU time", Unit::ns, 90, "", by_iteration ? kOnlyJson : Outputs()},
      {"communication_ns", "communication", Unit::ns, 90, "", by_iteration ? kOnlyJson : Outputs()},
      {"kernels", "kernels", Unit::count, 90, "", by_iteration ? kOnlyJson : Outputs()}};
  std::vector<RankTotals> totals;
  std::vector<RankMeans> means;
  std::vector<std::size_t> order(job.ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    totals.push_back(totals_of(job.ranks[r]));
    means.push_back(means_of(job, r));
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return by_iteration ? means[a].waited_for_ns > means[b].waited_for_ns
                        : totals[a].own_ns() > totals[b].own_ns();
  });
  for (const std::size_t r : order) {
    const auto mean = [&](double ns) { return by_iteration ? ns_cell(ns) : Cell(); };
    const auto total = [&](RankCost cost) {
      return mean(job.modules.total_ns(cost, r, job.compared.iterations));
    };
    const std::optional<std::uint32_t> gpu = gpu_of(job.ranks[r]);
    table.add({text_cell(job.ranks[r].name), text_cell(job.ranks[r].trace->header.host),
               text_cell(gpu ? std::to_string(*gpu) : ""), mean(means[r].waited_for_ns),
               mean(means[r].waited_ns), mean(means[r].transfer_ns), total(RankCost::kernels),
               total(RankCost::copies), total(RankCost::host), mean(means[r].calls_ns),
               number_cell(totals[r].own_ns()), number_cell(totals[r].communication_ns),
               number_cell(totals[r].kernels)});
  }
  const bool none_common = job.compared.iterations.empty();
  if (none_common)
    table.remarks = "Who is late is not known: no iteration is common to all ranks.\n";
  else if (!by_iteration)
    table.remarks = work_text(job, totals);
  if (job.waits.unmatched != 0) {
    table.remarks +=
        counted_text(job.waits.unmatched, "collective", "collectives") +
        " without NCCL's ranges are not compared: on no other rank the same ones end with them.\n";
  }
  if (max != 0 && order.size() > max) {
    keep_first(table, max);
    table.remarks += counted_text(order.size() - max, "more rank", "more ranks") + ": --json\n";
  }
  return table;
}

Table job_module_table(const Job& job, std::uint32_t depth, bool folded) {
  const std::vector<RankModule>& modules = folded ? job.modules.folded() : job.modules.all();
  const JobIterations& iterations = job.compared.iterations;
  std::vector<std::vector<double>> gpu, host, calls, waited, transfer;
  std::vector<std::vector<bool>> has;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    gpu.push_back(job.modules.ns(modules, RankCost::kernels, r, iterations));
    host.push_back(job.modules.ns(modules, RankCost::host, r, iterations));
    calls.emplace_back(modules.size());
    for (const RankCost cost : kDriverCalls) {
      const std::vector<double> ns = job.modules.ns(modules, cost, r, iterations);
      std::transform(ns.begin(), ns.end(), calls.back().begin(), calls.back().begin(), std::plus<>());
    }
    RankModules::Waits waits = job.modules.waits(modules, r, iterations);
    waited.push_back(std::move(waits.waited_ns));
    transfer.push_back(std::move(waits.transfer_ns));
    has.push_back(job.modules.present(modules, r));
  }
  Table out;
  out.name = "merged";
  out.title = "Modules over the ranks, " + compared_text(job);
  out.empty = "No module in any of these traces.";
  out.cut = CutSide::back;
  out.sortable = false;
  out.columns = {{"path", "module"},
                 {"mean_gpu_ns", "own GPU", Unit::ns},
                 {"min_gpu_ns", "min", Unit::ns, 50},
                 {"max_gpu_ns", "max", Unit::ns},
                 {"spread", "spread", Unit::share, 40},
                 {"slowest", "slowest"},
                 {"mean_host_ns", "host code", Unit::ns},
                 {"max_host_ns", "max", Unit::ns},
                 {"slowest_host", "slowest"},
                 {"mean_calls_ns", "driver calls", Unit::ns, 60},
                 {"waited_ns", "exposed wait", Unit::ns},
                 {"transfer_ns", "transfer", Unit::ns},
                 {"ranks", "ranks", Unit::count}};
  const auto name_of = [&job](std::size_t rank) {
    return rank == SIZE_MAX ? Cell() : text_cell(job.ranks[rank].name);
  };
  if (job.waits.collectives != 0)
    out.remarks =
        "Beside kernels that wait for another rank all others are slower: a rank that waits may take "
        "longest.\n";
  for (const std::size_t m : RankModules::in_tree_order(modules)) {
    const RankModule& module = modules[m];
    const Over on_gpu = over(gpu, has, m), on_host = over(host, has, m);
    if ((depth != 0 && module.depth > depth) || on_gpu.ranks == 0 || iterations.empty()) continue;
    const std::string path = m == 0 ? "(outside of any range)" : module.path;
    const std::size_t indent = module.depth == 0 ? 0 : 2 * (module.depth - 1);
    out.add({Cell(CellValue(path), std::string(indent, ' ') + (m == 0 ? path : module.name)),
             ns_cell(on_gpu.mean), ns_cell(on_gpu.min), ns_cell(on_gpu.max),
             number_cell(spread(on_gpu.min, on_gpu.max, on_gpu.mean)), name_of(on_gpu.slowest),
             ns_cell(on_host.mean), ns_cell(on_host.max), name_of(on_host.slowest),
             ns_cell(over(calls, has, m).mean), ns_cell(over(waited, has, m).mean),
             ns_cell(over(transfer, has, m).mean), cell_if(on_gpu.ranks < job.ranks.size(), on_gpu.ranks)});
  }
  return out;
}

Table clock_table(const Job& job) {
  const std::vector<RankClock>& clocks = job.clocks;
  Table table;
  table.name = "clocks";
  table.title = "Clocks";
  table.sortable = false;
  table.columns = {{"rank", "rank"},
                   {"host", "host"},
                   {"offset_ns", "begins", Unit::ns},
                   {"clock", "clock"},
                   {"agree_within_ns", "known within", Unit::ns}};
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const std::int64_t offset_ns = clocks[i].offset_ns;
    const std::string amount = duration_text(static_cast<std::uint64_t>(std::abs(offset_ns)));
    table.add({text_cell(job.ranks[i].name), text_cell(job.ranks[i].trace->header.host),
               Cell(CellValue(offset_ns), (offset_ns < 0 ? "-" : "+") + amount),
               text_cell(clock_text(clocks[i], i)),
               i == 0 || !clocks[i].agree_within_ns ? Cell() : number_cell(*clocks[i].agree_within_ns)});
  }
  drop_empty_columns(table);
  const bool other_hosts =
      std::any_of(clocks.begin(), clocks.end(), [](const RankClock& clock) { return !clock.same_host; });
  if (other_hosts)
    table.remarks =
        "Other hosts are placed by their CLOCK_REALTIME, which is as exact as their time service.\n";
  if (job.waits.clocks_off_ns != 0) {
    table.remarks +=
        "Collectives ended on one rank before they began on another: the clocks are off by at least " +
        duration_text(job.waits.clocks_off_ns) + ".\n";
  }
  return table;
}

Table wait_table(const Job& job) {
  Table table;
  table.name = "rank_waits";
  table.title = "Communication of the ranks, whole run";
  table.columns = {{"rank", "rank"},
                   {"communication_ns", "communicating", Unit::ns},
                   {"exposed_ns", "exposed", Unit::ns},
                   {"waited_ns", "waited for others", Unit::ns},
                   {"transfer_ns", "transfer", Unit::ns},
                   {"last_in", "came last", Unit::count},
                   {"made_wait_ns", "made others wait", Unit::ns}};
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const RankWait& wait = job.waits.ranks[i];
    if (wait.communication_ns == 0) continue;
    const bool compared = job.waits.collectives != 0;
    table.add({text_cell(job.ranks[i].name), number_cell(wait.communication_ns),
               number_cell(exposed_ns(job.ranks[i].work->communication())), cell_if(compared, wait.waited_ns),
               cell_if(compared, wait.transfer_ns), cell_if(compared, wait.last_in),
               cell_if(compared, wait.made_wait_ns)});
  }
  if (table.rows.empty()) {
    table.title.clear();
    return table;
  }
  drop_empty_columns(table);
  return table;
}

}  // namespace rangefinder
