// SPDX-License-Identifier: Apache-2.0
//
// Rule: grids of less than one wave.
//
//   blocks < multiprocessors                      some multiprocessors are idle
//   blocks < multiprocessors x blocks resident    multiprocessors are not full: occupancy means nothing
//
// Their low throughput is structural: it comes from the size of the problem, not from the kernel. So
// low_occupancy skips such launches. There is no saving: the trace cannot show whether the work could be
// split into more blocks. Kernels of one block (a reduction's last step) count too.
#include <algorithm>

#include "tools/analysis/findings/rule.h"
#include "tools/analysis/timeline/occupancy.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kMinGpuNs = 1'000'000;  // of all kernels; shorter programs are not worth tuning

class SmallGrid final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    const GpuRecord* const gpu = context.gpu();
    if (gpu == nullptr || gpu->sm_count == 0 || context.kernels.total_ns() < kMinGpuNs) return;
    Small under_sms, under_wave;
    for (const KernelUse& use : context.kernels.uses()) {
      const LaunchConfigRecord* const config = context.kernels.config(use.config);
      if (config == nullptr) continue;
      const auto occupancy = occupancy_of(*gpu, *config);
      if (!occupancy || occupancy->waves >= 1) continue;
      const std::uint64_t blocks = std::uint64_t{config->grid.x} * config->grid.y * config->grid.z;
      under_wave.add(use, blocks, occupancy->waves);
      if (blocks < gpu->sm_count) under_sms.add(use, blocks, occupancy->waves);
    }
    const auto all_ns = static_cast<double>(context.kernels.total_ns());
    const double wave_share = static_cast<double>(under_wave.ns) / all_ns;
    if (wave_share < kMinOfTime) return;
    Finding finding;
    finding.id = "grid_under_one_wave";
    finding.title = "Grids are smaller than one wave: their low throughput is structural";
    finding.where = context.kernel_text(under_wave.heaviest.name);
    finding.severity = wave_share >= 0.5 ? Severity::notable : Severity::info;
    finding.evidence = {
        evidence_share("under_one_wave_share", "GPU time in grids under one wave", wave_share),
        evidence_share("under_sm_count_share", "GPU time in grids of fewer blocks than multiprocessors",
                       static_cast<double>(under_sms.ns) / all_ns),
        evidence_count("launches", "launches under one wave", under_wave.launches),
        evidence_share("mean_fill", "their mean fraction of a wave, weighted by time",
                       under_wave.fill_ns / static_cast<double>(std::max<std::uint64_t>(1, under_wave.ns))),
        evidence_ns("heaviest_ns", "the heaviest of them, " + finding.where + ", took",
                    under_wave.heaviest.total_ns),
        evidence_count("heaviest_blocks", "its blocks per launch", under_wave.heaviest_blocks),
        evidence_count("multiprocessors", "multiprocessors", gpu->sm_count)};
    finding.next_step =
        "give the GPU more concurrent work: a larger batch, split-K or stream-K for matrix products, or "
        "independent branches on several streams; changing the occupancy of these kernels will not help";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinOfTime = 0.20;
  struct Small {
    std::uint64_t ns = 0, launches = 0;
    double fill_ns = 0;  // fraction of a wave times GPU time
    KernelUse heaviest;
    std::uint64_t heaviest_blocks = 0;
    void add(const KernelUse& use, std::uint64_t blocks, double waves) {
      ns += use.total_ns;
      launches += use.count;
      fill_ns += waves * static_cast<double>(use.total_ns);
      if (use.total_ns <= heaviest.total_ns) return;
      heaviest = use;
      heaviest_blocks = blocks;
    }
  };
};

}  // namespace

std::unique_ptr<FindingRule> make_small_grid_rule() {
  return std::make_unique<SmallGrid>();
}

}  // namespace rangefinder
