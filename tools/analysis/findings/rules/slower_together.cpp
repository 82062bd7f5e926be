// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernels take longer when they run concurrently than one after the other.
//
//   ├─ A ─────────┤
//      ├─ B ────────────┤      a cluster: kernels that overlap in a chain, from first start to last end,
//   └──── cluster ──────┘      compared with the sum of the mean times of A and B when each ran alone
//
// A kernel is identified by name and configuration. Clusters with a kernel that ran alone fewer than
// kMinAlone times are excluded. Keeps at most kMaxClusters distinct clusters.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr std::size_t kMaxClusters = 4096;
constexpr std::size_t kMaxOfCluster = 64;  // longer chains mean that the program overlaps kernels throughout
constexpr std::uint64_t kMinAlone = 3;
constexpr double kMinSlower = 1.10;

using KernelKey = std::uint64_t;  // name and configuration

struct Times {
  std::uint64_t count = 0, ns = 0;
};

/// The kernels of one GPU that overlap in a chain.
struct Cluster {
  TimeNs start_ns = 0, end_ns = 0;
  std::vector<KernelKey> kernels;
  std::vector<std::uint64_t> durations;
};

class SlowerTogether final : public FindingRule {
 public:
  void work(const WorkEvent& event) override {
    if (event.kind != WorkKind::kernel) return;
    Cluster& cluster = open_[event.work.gpu];
    if (cluster.kernels.empty() || event.work.start_ns >= cluster.end_ns) {
      close(cluster);
      cluster.start_ns = event.work.start_ns;
      cluster.end_ns = event.work.end_ns;
    }
    cluster.end_ns = std::max(cluster.end_ns, event.work.end_ns);
    if (cluster.kernels.size() > kMaxOfCluster) return;
    cluster.kernels.push_back(KernelKey{event.name} << 32 | event.config);
    cluster.durations.push_back(event.duration());
  }

  void find(const FindingContext& context, std::vector<Finding>& out) override {
    for (auto& [gpu, cluster] : open_) close(cluster);
    std::vector<Finding> found;
    if (context.rest) return;
    for (const auto& [kernels, together] : together_) add(context, kernels, together, found);
    std::sort(found.begin(), found.end(), [](const Finding& a, const Finding& b) {
      return a.saving_ns.value_or(0) > b.saving_ns.value_or(0);
    });
    if (found.size() > kMaxFindings) found.resize(kMaxFindings);
    for (Finding& finding : found) out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinShare = 0.02;
  void close(Cluster& cluster) {
    if (cluster.kernels.size() == 1) {
      Times& alone = alone_[cluster.kernels.front()];
      ++alone.count;
      alone.ns += cluster.durations.front();
    } else if (!cluster.kernels.empty() && cluster.kernels.size() <= kMaxOfCluster) {
      std::sort(cluster.kernels.begin(), cluster.kernels.end());
      const bool known = together_.count(cluster.kernels) != 0;
      if (known || together_.size() < kMaxClusters) {
        Times& together = together_[cluster.kernels];
        ++together.count;
        together.ns += elapsed_ns(cluster.start_ns, cluster.end_ns);
      }
    }
    cluster.kernels.clear();
    cluster.durations.clear();
  }

  void add(const FindingContext& context, const std::vector<KernelKey>& kernels, const Times& together,
           std::vector<Finding>& out) const {
    std::uint64_t one_by_one = 0;
    std::map<std::string, std::uint64_t> names;
    for (const KernelKey kernel : kernels) {
      const auto alone = alone_.find(kernel);
      if (alone == alone_.end() || alone->second.count < kMinAlone) return;
      one_by_one += alone->second.ns / alone->second.count;
      ++names[context.kernel_text(static_cast<std::uint32_t>(kernel >> 32))];
    }
    if (one_by_one == 0) return;
    const std::uint64_t mean = together.ns / together.count;
    const double factor = static_cast<double>(mean) / static_cast<double>(one_by_one);
    const std::uint64_t saving = mean > one_by_one ? (mean - one_by_one) * together.count : 0;
    const double share =
        static_cast<double>(saving) / static_cast<double>(std::max<std::uint64_t>(1, context.span_ns));
    if (factor < kMinSlower || share < kMinShare) return;
    Finding finding;
    finding.id = "slower_together";
    const KernelUse first{static_cast<std::uint32_t>(kernels.front() >> 32),
                          static_cast<std::uint32_t>(kernels.front())};
    finding.where = context.module_of(first).module;
    finding.kernel = names.begin()->first;
    finding.effect =
        (finding.where.empty() ? "Concurrent kernels take " : "runs kernels concurrently that take ") +
        factor_text(factor) + " as long as one after the other";
    finding.saving_ns = context.of_analysed(saving);
    finding.of_ns = context.of_analysed(together.ns);
    finding.why = "Together they take " + duration_text(mean) + ", alone " + duration_text(one_by_one) +
                  " in sum, in " + count_text(together.count) + " runs. They are " + counts_text(names) +
                  ", and compete for cache, memory or multiprocessors.";
    finding.evidence = {evidence_count("times", "concurrent runs", together.count),
                        evidence_count("kernels", "kernels in each", kernels.size()),
                        evidence_ns("together_ns", "mean time together", mean),
                        evidence_ns("one_by_one_ns", "sum of their mean times alone", one_by_one),
                        evidence_factor("slower", "slowdown", factor)};
    finding.next_step = "put these kernels on one stream, or give each of them fewer blocks";
    out.push_back(std::move(finding));
  }

  std::unordered_map<std::uint32_t, Cluster> open_;  // by GPU
  std::unordered_map<KernelKey, Times> alone_;
  std::map<std::vector<KernelKey>, Times> together_;
};

}  // namespace

std::unique_ptr<FindingRule> make_slower_together_rule() {
  return std::make_unique<SlowerTogether>();
}

}  // namespace rangefinder
