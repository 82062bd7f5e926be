// SPDX-License-Identifier: Apache-2.0
//
// Rule: warps execute instructions for few of their 32 threads (`--metrics occupancy`).
//
//   threads per instruction < 24     a quarter of the lanes does nothing
//
// Branches that diverge are the usual cause. Blocks that are no multiple of 32 threads are another: where
// they explain the value, the finding says so. The saving holds if instructions limit the kernel; a kernel
// at 60 % of a memory peak or more is not reported, because its lanes wait for bytes.
#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kWarp = 32;
constexpr double kMinThreads = 24;
constexpr double kExplained = 0.95;  // of the threads that a block's warps have: the rest is no divergence

/// Mean number of threads of a block's warps; its last warp may be partly empty.
double threads_of_warps(const LaunchConfigRecord* config) {
  if (config == nullptr) return kWarp;
  const std::uint64_t threads = std::uint64_t{config->block.x} * config->block.y * config->block.z;
  const std::uint64_t warps = (threads + 31) / 32;
  return warps == 0 ? kWarp : static_cast<double>(threads) / static_cast<double>(warps);
}

class Divergence final : public KernelRule {
 public:
  Divergence() : KernelRule(Per::name) {}

 private:
  bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) override {
    const MeasuredKernel& measured = context.kernels.measured(use.name);
    const auto threads = measured.values.value("threads_per_instruction");
    if (!threads || *threads >= kMinThreads || context.of_gpu(use.total_ns) < kMinOfTime) return false;
    if (measured.memory_share().value_or(0) >= kRoofShare) return false;
    const double idle = 1 - *threads / kWarp;
    const double in_block = threads_of_warps(context.kernels.config(use.config));
    const bool by_block = *threads >= kExplained * in_block;
    Finding finding;
    finding.id = "divergence";
    const auto [module, module_ns] = context.module_of(use);
    finding.where = module;
    finding.kernel = context.kernel_text(use.name);
    finding.effect = (finding.where.empty() ? "`" + finding.kernel + "` " : "") + "leaves " +
                     percent_text(idle) + " of the lanes of its warps idle";
    finding.of_ns = context.of_analysed(module_ns);
    finding.saving_ns = static_cast<std::uint64_t>(idle * static_cast<double>(finding.of_ns));
    finding.why = "An instruction of `" + finding.kernel + "` has " + three_digits(*threads) +
                  " active threads of 32" +
                  (by_block ? ", because its blocks have " + three_digits(in_block) + " threads a warp."
                            : ": branches diverge, or threads end early.") +
                  " The saving assumes that instructions limit it.";
    finding.evidence = {
        evidence_number("threads_per_instruction", "active threads of a warp instruction", *threads),
        evidence_share("idle_lanes", "lanes without a thread", idle),
        evidence_number("threads_per_warp", "threads that the blocks have for each warp", in_block),
        evidence_ns("gpu_ns", "GPU time", use.total_ns),
        evidence_share("share_of_gpu_time", "share of all kernel time", context.of_gpu(use.total_ns))};
    add_measured(finding, measured.values, {"compute_throughput", "memory_throughput", "issue_slots"});
    finding.next_step = by_block ? "choose blocks of a multiple of 32 threads"
                                 : "let the threads of a warp take the same branch: sort or compact the work "
                                   "by kind, or select a value instead of a branch";
    if (!by_block) finding.code = "const float y = x > 0 ? a : b;  // a select, no branch";
    out.push_back(std::move(finding));
    return true;
  }

  static constexpr double kMinOfTime = 0.02;
};

}  // namespace

std::unique_ptr<FindingRule> make_divergence_rule() {
  return std::make_unique<Divergence>();
}

}  // namespace rangefinder
