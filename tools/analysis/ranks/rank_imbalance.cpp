// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "profiler/base/iteration_names.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/ranks/job.h"

namespace rangefinder {
namespace {

constexpr double kMinSpread = 0.10;  // slowest over median, less 1
constexpr double kMinOfRank = 0.02;  // of the rank's own GPU time

/// Own GPU time of the module itself, without those below it, on the ranks that have it.
struct Times {
  struct One {
    double ns;
    std::size_t rank;
  };
  std::vector<One> sorted;
  double median_ns = 0;  ///< of all but the slowest
  [[nodiscard]] double excess_ns() const { return sorted.back().ns - median_ns; }
};

Times times_of(const Job& job, const RankModule& module) {
  Times out;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    if (module.paths[r].empty()) continue;
    double ns = 0;
    for (const std::uint32_t path : module.paths[r]) {
      for (const std::size_t i : job.compared.iterations)
        ns += job.ranks[r].work->ns(RankCost::kernels, path, job.waits.local(r, i));
    }
    out.sorted.push_back({ns, r});
  }
  std::sort(out.sorted.begin(), out.sorted.end(),
            [](const Times::One& a, const Times::One& b) { return a.ns < b.ns; });
  std::vector<double> values;
  for (const Times::One& one : out.sorted) values.push_back(one.ns);
  if (!values.empty()) out.median_ns = median_without(values, values.size() - 1);
  return out;
}

Finding finding_of(const Job& job, const std::string& path, const Times& times, double busy_ns) {
  const Times::One &slowest = times.sorted.back(), &fastest = times.sorted.front();
  const std::size_t iterations = job.compared.iterations.size();
  Finding finding{"rank_imbalance", path, whole_ns(slowest.ns), whole_ns(times.excess_ns())};
  finding.effect = "takes longer on the GPU in " + job.ranks[slowest.rank].name + " than in the other ranks";
  finding.why = (iterations < 2 ? "It takes " : "In " + count_text(iterations) + " iterations it takes ") +
                duration_text(whole_ns(slowest.ns)) + " there, " + duration_text(whole_ns(times.median_ns)) +
                " in the median of the others. The fastest is " + job.ranks[fastest.rank].name + " with " +
                duration_text(whole_ns(fastest.ns)) + ".";
  finding.severity = severity_of(*finding.saving_ns, whole_ns(busy_ns));
  finding.evidence = {evidence_text("slowest_rank", "slowest rank", job.ranks[slowest.rank].name),
                      evidence_ns("slowest_ns", "its GPU time", whole_ns(slowest.ns)),
                      evidence_ns("median_ns", "median of the others", whole_ns(times.median_ns)),
                      evidence_text("fastest_rank", "fastest rank", job.ranks[fastest.rank].name),
                      evidence_ns("fastest_ns", "its GPU time", whole_ns(fastest.ns)),
                      evidence_factor("slowest_over_median", "slowest over median",
                                      times.median_ns <= 0 ? 0 : slowest.ns / times.median_ns),
                      evidence_count("ranks", "ranks", times.sorted.size())};
  finding.next_step =
      "look at its kernels: uneven data shows as other launch sizes than on the other ranks, a slower GPU as "
      "longer kernels of the same sizes";
  finding.code = "rangefinder report " +
                 quoted_for_shell(job.ranks[slowest.rank].trace->files.folder.string()) +
                 " --section kernels";
  return finding;
}

}  // namespace

std::vector<Finding> find_rank_imbalance(const Job& job) {
  std::vector<Finding> out;
  if (job.ranks.size() < 2) return out;
  for (const RankModule& module : job.modules.folded()) {
    if (module.path.empty()) continue;
    const Times times = times_of(job, module);
    if (times.sorted.size() < 2) continue;
    const std::size_t slowest = times.sorted.back().rank;
    // The first lines have the cause already.
    const auto late = [slowest, &module](const Straggler& one) {
      return one.rank == slowest && numbers_folded(one.module) != module.path;
    };
    if (job.waits.collectives != 0 &&
        std::none_of(job.compared.stragglers.begin(), job.compared.stragglers.end(), late))
      continue;
    if (times.excess_ns() <= kMinSpread * times.median_ns) continue;
    const double busy_ns = job.modules.total_ns(RankCost::kernels, slowest, job.compared.iterations) *
                           static_cast<double>(job.compared.iterations.size());
    if (times.excess_ns() < kMinOfRank * busy_ns) continue;
    out.push_back(finding_of(job, module.path, times, busy_ns));
  }
  keep_most_valuable(out);
  const ModuleSources sources(*job.ranks.front().trace);
  for (Finding& finding : out) {
    set_sources(sources, finding);
    finding.title = subject_text(finding) + finding.effect + ": up to " + duration_text(*finding.saving_ns);
  }
  return out;
}

}  // namespace rangefinder
