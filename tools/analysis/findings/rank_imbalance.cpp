// SPDX-License-Identifier: Apache-2.0
//
// Compares the traces of several ranks of one program. `report` with several folders shows the finding.
#include <algorithm>
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/findings.h"

namespace rangefinder {
namespace {

constexpr double kMinSpread = 0.10;  // slowest over median, less 1
constexpr double kMinOfRank = 0.02;  // of the rank's GPU time

struct Times {
  std::uint64_t gpu_ns = 0;
  std::size_t rank = 0;
};

std::uint64_t median_of(const std::vector<Times>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half].gpu_ns : (sorted[half - 1].gpu_ns + sorted[half].gpu_ns) / 2;
}

/// NCCL calls include the wait for the slowest rank: a rank with a long call arrived early.
bool communicates(const TraceTotals& trace, std::uint32_t path) {
  const auto record = trace.paths.find(path);
  if (record == trace.paths.end()) return false;
  const auto domain = trace.domains.find(record->second.domain);
  return domain != trace.domains.end() && domain->second == "NCCL";
}

/// GPU time at the path itself, by path text and rank.
std::map<std::string, std::vector<Times>> times_by_path(const std::vector<RankTrace>& ranks) {
  std::map<std::string, std::vector<Times>> out;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const PathTotals& row : ranks[rank].trace->rows()) {
      if (row.path == 0 || row.gpu_ns_exclusive == 0 || communicates(*ranks[rank].trace, row.path)) continue;
      out[ranks[rank].trace->path_text(row.path)].push_back({row.gpu_ns_exclusive, rank});
    }
  }
  return out;
}

Finding finding_of(const std::vector<RankTrace>& ranks, const std::string& path,
                   const std::vector<Times>& sorted, std::uint64_t busy_ns) {
  const Times& slowest = sorted.back();
  const std::uint64_t median = median_of(sorted);
  Finding finding{"rank_imbalance", path, slowest.gpu_ns, slowest.gpu_ns - median};
  finding.effect = "takes longer on the GPU in " + ranks[slowest.rank].name + " than in the other ranks";
  finding.why = "It takes " + duration_text(slowest.gpu_ns) + " there, " + duration_text(median) +
                " in the median of " + counted_text(ranks.size(), "rank", "ranks") + ". The fastest is " +
                ranks[sorted.front().rank].name + " with " + duration_text(sorted.front().gpu_ns) + ".";
  finding.severity = severity_of(*finding.saving_ns, busy_ns);
  finding.evidence = {evidence_text("slowest_rank", "slowest rank", ranks[slowest.rank].name),
                      evidence_ns("slowest_ns", "its GPU time", slowest.gpu_ns),
                      evidence_ns("median_ns", "median of the ranks", median),
                      evidence_text("fastest_rank", "fastest rank", ranks[sorted.front().rank].name),
                      evidence_ns("fastest_ns", "its GPU time", sorted.front().gpu_ns),
                      evidence_factor("slowest_over_median", "slowest over median",
                                      static_cast<double>(slowest.gpu_ns) / static_cast<double>(median)),
                      evidence_count("ranks", "ranks", sorted.size())};
  finding.next_step =
      "compare the two ranks: uneven data shows as different launch sizes, a slower GPU as longer kernels of "
      "the same sizes";
  finding.code = "rangefinder diff FASTEST SLOWEST";
  return finding;
}

}  // namespace

std::vector<Finding> find_rank_imbalance(const std::vector<RankTrace>& ranks) {
  std::vector<Finding> out;
  if (ranks.size() < 2) return out;
  for (auto& [path, times] : times_by_path(ranks)) {
    if (times.size() != ranks.size()) continue;  // some rank lacks this path
    std::sort(times.begin(), times.end(), [](const Times& a, const Times& b) { return a.gpu_ns < b.gpu_ns; });
    const std::uint64_t busy_ns = ranks[times.back().rank].trace->totals.gpu_busy_ns();
    const auto excess = static_cast<double>(times.back().gpu_ns - median_of(times));
    const bool uneven = excess > kMinSpread * static_cast<double>(median_of(times));
    if (!uneven || excess < kMinOfRank * static_cast<double>(busy_ns)) continue;
    out.push_back(finding_of(ranks, path, times, busy_ns));
  }
  keep_most_valuable(out);
  const ModuleSources sources(*ranks.front().trace);
  for (Finding& finding : out) {
    set_sources(sources, finding);
    finding.title = subject_text(finding) + finding.effect + ": up to " + duration_text(*finding.saving_ns);
  }
  return out;
}

}  // namespace rangefinder
