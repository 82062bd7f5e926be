// SPDX-License-Identifier: Apache-2.0
//
// Rule: grids that fill less than half a wave.
//
//   blocks < multiprocessors x blocks resident / 2        half of the GPU has nothing to do
//
// Their low throughput is structural: it comes from the size of the problem, not from the kernel. So
// low_occupancy skips grids under one wave. There is no saving: the trace cannot show whether the work could
// be split into more blocks. Silent without a module and below a tenth of an iteration, because many programs
// have some such kernels and most do not matter; and where kernels run beside each other, because small grids
// together can fill a GPU. A grid of one block is a decision: a scan, a wait, the last step of a reduction.
// Of a product, convolution or attention it is a small problem, and is reported. Measured throughput and
// occupancy are evidence; who measures them studies the kernel, so a short program without ranges counts too.
#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/tables/kernel_kinds.h"
#include "tools/analysis/timeline/occupancy.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kMinGpuNs = 1'000'000;  // of all kernels; shorter programs are not worth tuning

class SmallGrid final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    const GpuRecord* const gpu = context.gpu();
    const bool studied = context.kernels.any_value("compute_throughput");
    if (gpu == nullptr || gpu->sm_count == 0 || context.concurrent) return;
    if (context.gpu_ns < kMinGpuNs && !studied) return;
    std::map<std::string, Small> modules;
    for (const KernelPlace& place : context.places) {
      const LaunchConfigRecord* const config = context.kernels.config(place.use.config);
      if (config == nullptr || (place.path == 0 && !studied)) continue;
      const auto occupancy = occupancy_of(*gpu, *config);
      const std::uint64_t blocks = std::uint64_t{config->grid.x} * config->grid.y * config->grid.z;
      if (!occupancy || occupancy->waves >= kHalfWave ||
          (blocks == 1 && !keeps_few_warps(context.kernel_name(place.use.name))))
        continue;
      const std::string module = place.path == 0 ? "" : numbers_folded(context.path_text(place.path));
      modules[module].add(place.use, blocks, occupancy->waves);
    }
    for (const auto& [module, small] : heaviest(modules, [](const Small& one) { return one.ns; }))
      report(context, module, small, out);
  }

 private:
  static constexpr double kMinOfIteration = 0.10;
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

  /// "1 of 132 multiprocessors has a block", or "132 multiprocessors, which hold more, run 200 blocks".
  static std::string blocks_text(std::uint64_t blocks, std::uint32_t sms) {
    const std::string all = count_text(sms) + " multiprocessors";
    if (blocks < sms)
      return count_text(blocks) + " of " + all + (blocks == 1 ? " has a block" : " have a block");
    return all + ", which hold more, run " + count_text(blocks) + " blocks";
  }

  static std::string throughput_text(const NamedValues& measured) {
    const auto compute = measured.value("compute_throughput"),
               occupancy = measured.value("achieved_occupancy");
    if (!compute || !occupancy)
      return "Their low throughput comes from the size of the problem: occupancy does not change it.";
    return "Compute reaches " + three_digits(*compute) + " % of its peak, and the achieved occupancy is " +
           three_digits(*occupancy) + " %: the problem is too small for this GPU, whatever the kernel does.";
  }

  static void report(const FindingContext& context, const std::string& module, const Small& small,
                     std::vector<Finding>& out) {
    const std::uint64_t all_ns = context.loop.found() && context.host_times_hold
                                     ? context.span_ns
                                     : context.of_analysed(context.gpu_ns);
    const std::uint64_t ns = context.of_analysed(small.ns);
    if (context.rest || static_cast<double>(ns) < kMinOfIteration * static_cast<double>(all_ns)) return;
    const double fill = small.fill_ns / static_cast<double>(small.ns);
    const std::uint32_t sms = context.gpu()->sm_count;
    Finding finding;
    finding.id = "grid_under_one_wave";
    finding.where = module;
    finding.kernel = context.kernel_text(small.heaviest.name);
    finding.effect = (module.empty() ? "`" + finding.kernel + "` " : "") + "fills " + percent_text(fill) +
                     " of the GPU, because its grids are small";
    finding.of_ns = ns;
    const NamedValues& measured = context.kernels.measured(small.heaviest.name).values;
    finding.why = blocks_text(small.heaviest_blocks, sms) + " of `" + finding.kernel + "`; such grids fill " +
                  percent_text(fill) + " of a wave. " + throughput_text(measured);
    finding.evidence = {
        evidence_share("mean_fill", "mean fraction of a wave, weighted by time", fill),
        evidence_ns("gpu_ns", "GPU time in grids under one wave", small.ns),
        evidence_share("share_of_gpu_time", "share of all kernel time", context.of_gpu(small.ns)),
        evidence_count("launches", "launches under one wave", small.launches),
        evidence_count("heaviest_blocks", "blocks of the heaviest of them", small.heaviest_blocks),
        evidence_count("multiprocessors", "multiprocessors", sms)};
    add_measured(finding, measured, {"compute_throughput", "memory_throughput", "achieved_occupancy"});
    finding.next_step =
        "give the GPU more concurrent work: a larger batch, split-K or stream-K for matrix products, or "
        "independent branches on several streams";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_small_grid_rule() {
  return std::make_unique<SmallGrid>();
}

}  // namespace rangefinder
