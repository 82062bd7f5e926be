// SPDX-License-Identifier: Apache-2.0
//
// Rule: a replayed graph runs chains of kernels that are too short to fill the GPU.
//
//   …, ├ 25 us ┤ ├2┤ ├3┤ ├ 14 us ┤ …        kernels below kSmallNs, one after the other, in one module
//
// A graph removes the host's part, but a kernel still takes a microsecond or two to start and to drain. The
// saving is the time of a chain beyond its longest kernel. unfused_chain reports elementwise kernels alone.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kSmallNs = 5'000;
constexpr std::uint64_t kMinOfChain = 2;

struct OpenChain {
  std::uint64_t kernels = 0, total_ns = 0, longest_ns = 0;
  std::uint32_t path = 0;
};
struct ChainSum {
  std::uint64_t chains = 0, kernels = 0, total_ns = 0, saved_ns = 0;
};

class SmallGraphKernels final : public FindingRule {
 public:
  void work(const WorkEvent& event) override {
    if (event.work.graph == 0) return;
    OpenChain& chain = open_[std::uint64_t{event.work.context} << 32 | event.work.stream];
    const std::uint64_t ns = event.duration();
    const bool small = event.kind == WorkKind::kernel && ns < kSmallNs;
    if (!small || event.work.path != chain.path || event.first_of_launch) close(chain);
    if (!small) return;
    chain.path = event.work.path;
    ++chain.kernels;
    chain.total_ns += ns;
    chain.longest_ns = std::max(chain.longest_ns, ns);
  }

  void find(const FindingContext& context, std::vector<Finding>& out) override {
    for (auto& [stream, chain] : open_) close(chain);
    std::map<std::string, ChainSum> modules;
    for (const auto& [path, sum] : sums_) {
      if (path == 0 || !context.takes(path)) continue;
      ChainSum& module = modules[numbers_folded(context.path_text(path))];
      module.chains += sum.chains;
      module.kernels += sum.kernels;
      module.total_ns += sum.total_ns;
      module.saved_ns += sum.saved_ns;
    }
    for (const auto& [module, sum] : heaviest(modules, [](const ChainSum& one) { return one.saved_ns; }))
      report(context, module, sum, out);
  }

 private:
  static constexpr double kMinOfTime = 0.02;
  static constexpr std::uint64_t kMinGpuNs =
      1'000'000;  // of all kernels; shorter programs are not worth tuning

  void close(OpenChain& chain) {
    if (chain.kernels >= kMinOfChain) {
      ChainSum& sum = sums_[chain.path];
      ++sum.chains;
      sum.kernels += chain.kernels;
      sum.total_ns += chain.total_ns;
      sum.saved_ns += chain.total_ns - chain.longest_ns;
    }
    chain = {};
  }

  static void report(const FindingContext& context, const std::string& module, const ChainSum& sum,
                     std::vector<Finding>& out) {
    if (context.of_gpu(sum.saved_ns) < kMinOfTime || context.gpu_ns < kMinGpuNs) return;
    Finding finding;
    finding.id = "small_graph_kernels";
    finding.where = module;
    finding.effect = "replays chains of kernels that each take " + duration_text(sum.total_ns / sum.kernels);
    finding.of_ns = context.of_analysed(sum.total_ns);
    finding.saving_ns = context.of_analysed(sum.saved_ns);
    finding.why =
        context.each_text(finding.of_ns) + context.per() + " pass in " + count_text(sum.kernels) +
        " kernels below 5 us, in " + counted_text(sum.chains, "chain", "chains") +
        ". A graph removes the launch by the host, but each kernel still starts and drains on the GPU.";
    finding.evidence = {evidence_count("chains", "chains", sum.chains),
                        evidence_count("kernels", "kernels in them", sum.kernels),
                        evidence_ns("gpu_ns", "their GPU time", sum.total_ns),
                        evidence_ns("saved_ns", "beyond the longest kernel of each", sum.saved_ns)};
    finding.next_step = "fuse these kernels with each other, or with the long kernel before or after them";
    finding.code = "model = torch.compile(model)  # before the capture";
    out.push_back(std::move(finding));
  }

  std::unordered_map<std::uint64_t, OpenChain> open_;  // by context and stream
  std::unordered_map<std::uint32_t, ChainSum> sums_;   // by path
};

}  // namespace

std::unique_ptr<FindingRule> make_small_graph_kernels_rule() {
  return std::make_unique<SmallGraphKernels>();
}

}  // namespace rangefinder
