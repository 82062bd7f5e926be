// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/job_series.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/missing.h"

namespace rangefinder {
namespace {

/// Neighbouring iterations.
using IterationBatches = std::vector<JobIterations>;

IterationBatches batches_of(const JobIterations& iterations) {
  IterationBatches out(std::min(kMaxBatches, iterations.size()));
  for (std::size_t i = 0; i < iterations.size(); ++i)
    out[i * out.size() / iterations.size()].push_back(iterations[i]);
  return out;
}

/// `value(iteration)`: of the job; nullopt: unknown.
void add_quantity(IterationSeries& out, const IterationBatches& batches, Quantity quantity,
                  const std::function<std::optional<double>(std::size_t)>& value) {
  std::vector<std::vector<double>> by_batch;
  for (const JobIterations& batch : batches) {
    by_batch.emplace_back();
    for (const std::size_t i : batch) {
      if (const std::optional<double> one = value(i)) by_batch.back().push_back(*one);
    }
  }
  if (const std::optional<IterationValues> values = iteration_values(by_batch))
    out.of_iterations[quantity] = *values;
}

/// Over the ranks: the median, as one rank may be the only slow one.
std::optional<double> wall_ns(const Job& job, std::size_t iteration) {
  std::vector<double> values;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const std::vector<IterationTotals>& rows = job.ranks[r].work->iterations().rows();
    const std::size_t local = job.waits.local(r, iteration);
    if (local < rows.size() && rows[local].wall_ns)
      values.push_back(static_cast<double>(*rows[local].wall_ns));
  }
  if (values.empty()) return {};
  return median_without(values, values.size());
}

void add_iterations(IterationSeries& out, const Job& job, const IterationBatches& batches) {
  const auto ranks = static_cast<double>(job.ranks.size());
  const auto mean = [&](const auto& of) {
    return [&job, ranks, of](std::size_t iteration) -> std::optional<double> {
      double sum = 0;
      for (std::size_t r = 0; r < job.ranks.size(); ++r) sum += of(r, iteration);
      return sum / ranks;
    };
  };
  add_quantity(out, batches, Quantity::wall_ns, [&job](std::size_t i) { return wall_ns(job, i); });
  add_quantity(out, batches, Quantity::busy_ns, mean([&job](std::size_t r, std::size_t i) {
                 return job.ranks[r].work->own_busy_ns(job.waits.local(r, i));
               }));
  if (job.waits.collectives == 0) return;
  add_quantity(out, batches, Quantity::rank_wait_ns, mean([&job](std::size_t r, std::size_t i) {
                 return static_cast<double>(job.waits.wait(r, i).waited_ns);
               }));
  add_quantity(out, batches, Quantity::transfer_ns, mean([&job](std::size_t r, std::size_t i) {
                 return static_cast<double>(job.waits.wait(r, i).transfer_ns);
               }));
}

void add_modules(IterationSeries& out, const Job& job, const IterationBatches& batches) {
  const std::vector<RankModule>& modules = job.modules.all();
  std::vector<std::vector<double>> by_batch(modules.size()), by_rank(modules.size());
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const std::vector<bool> has = job.modules.present(modules, r);
    std::vector<double> sums(modules.size());
    for (std::size_t b = 0; b < batches.size(); ++b) {
      const std::vector<double> ns = job.modules.ns(modules, RankCost::kernels, r, batches[b]);
      for (std::size_t m = 0; m < modules.size(); ++m) {
        by_batch[m].resize(batches.size());
        by_batch[m][b] += ns[m];
        sums[m] += ns[m] * static_cast<double>(batches[b].size()) / static_cast<double>(out.iterations);
      }
    }
    for (std::size_t m = 0; m < modules.size(); ++m) {
      if (has[m]) by_rank[m].push_back(sums[m]);
    }
  }
  for (const std::size_t m : RankModules::in_tree_order(modules)) {
    if (m == 0 || by_rank[m].empty() || *std::max_element(by_rank[m].begin(), by_rank[m].end()) <= 0)
      continue;
    for (double& ns : by_batch[m]) ns /= static_cast<double>(by_rank[m].size());
    PathSeries& series = out.paths[modules[m].path];
    series.name = modules[m].name;
    series.depth = modules[m].depth;
    series.order = out.paths.size();
    series.spreads[static_cast<std::size_t>(Quantity::gpu_ns)] = trimmed_moments(by_batch[m]);
    const auto [min, max] = std::minmax_element(by_rank[m].begin(), by_rank[m].end());
    series.ranks = RankSpread{*min, *max};
  }
}

}  // namespace

IterationSeries series_of_job(const Job& job, const HalfOpen<std::uint64_t>& wanted) {
  JobIterations iterations = job.compared.iterations;
  std::erase_if(iterations, [&wanted](std::size_t i) {
    return i < wanted.first.value_or(0) || i >= wanted.last.value_or(UINT64_MAX);
  });
  const TraceTotals& first = *job.ranks.front().trace;
  if (iterations.empty()) throw Missing(first.files.folder.string() + ": no iteration that all ranks have");
  IterationSeries out;
  const IterationBatches batches = batches_of(iterations);
  const IterationLog& log = job.ranks.front().work->iterations();
  out.iteration_path = log.iterations().path;
  out.iterations = iterations.size();
  out.batches = batches.size();
  out.title = first.files.folder.string() + " and " +
              counted_text(job.ranks.size() - 1, "more rank", "more ranks") + "   " +
              printable(first.header.executable);
  out.header = first.header;
  out.counters = first.header.counters;
  out.ranks = job.ranks.size();
  for (const JobRank& rank : job.ranks) {
    for (const GpuRecord& gpu : rank.trace->gpus) out.gpus.insert(gpu.name);
  }
  out.late = straggler_summary(job);
  if (!out.iteration_path.empty()) add_iterations(out, job, batches);
  add_modules(out, job, batches);
  return out;
}

}  // namespace rangefinder
