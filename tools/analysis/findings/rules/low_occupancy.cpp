// SPDX-License-Identifier: Apache-2.0
//
// Rule: too few warps fit on a multiprocessor to hide memory latency.
//
// Computed from the launch configuration (occupancy.h), which also shows the limiter. Not reported for grids
// under one wave (see grid_under_one_wave), nor where the measured issue slots are busy, nor for matrix
// products, convolutions and attention, which use few warps with many registers by design.
#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/tables/kernel_kinds.h"
#include "tools/analysis/timeline/occupancy.h"

namespace rangefinder {
namespace {

constexpr double kMinOccupancy = 0.25;
constexpr double kBusyIssue = 60;  // percent of the cycles

class LowOccupancy final : public KernelRule {
  bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) override {
    const LaunchConfigRecord* const config = context.kernels.config(use.config);
    const double of_time = context.of_gpu(use.total_ns);
    if (config == nullptr || context.gpu() == nullptr || of_time < kMinOfTime) return false;
    const auto occupancy = occupancy_of(*context.gpu(), *config);
    if (!occupancy || occupancy->waves < 1 || occupancy->share() >= kMinOccupancy) return false;
    if (keeps_few_warps(context.kernel_name(use.name))) return false;
    const NamedValues& measured = context.kernels.measured(use.name).values;
    const auto issue = measured.value("issue_slots");
    if (issue && *issue >= kBusyIssue) return false;
    Finding finding;
    finding.id = "low_occupancy";
    const auto [module, module_ns] = context.module_of(use);
    finding.where = module;
    finding.kernel = context.kernel_text(use.name);
    const std::string has = "few warps to hide latency, limited by " + occupancy->limiter();
    finding.effect = finding.where.empty() ? "`" + finding.kernel + "` has " + has : "has " + has;
    finding.of_ns = context.of_analysed(module_ns);
    finding.why = "The occupancy of `" + finding.kernel + "` is " + percent_text(occupancy->share()) + ": " +
                  count_text(occupancy->warps_per_sm) + " of " + count_text(occupancy->max_warps) +
                  " warps. A thread has " + count_text(config->registers) + " registers, a block " +
                  bytes_text(std::uint64_t{config->static_shared_bytes} + config->dynamic_shared_bytes) +
                  " of shared memory.";
    finding.evidence = {
        evidence_share("occupancy", "theoretical occupancy", occupancy->share()),
        evidence_count("warps_per_sm", "warps per multiprocessor", occupancy->warps_per_sm),
        evidence_text("limiter", "limited by", occupancy->limiter()),
        evidence_count("registers", "registers per thread", config->registers),
        evidence_bytes("shared_bytes", "shared memory per block",
                       std::uint64_t{config->static_shared_bytes} + config->dynamic_shared_bytes),
        evidence_number("waves", "waves", occupancy->waves),
        evidence_ns("gpu_ns", "GPU time", use.total_ns),
        evidence_share("share_of_gpu_time", "share of all kernel time", of_time)};
    if (issue) finding.evidence.push_back(evidence_share("issue_active", "issue slots in use", *issue / 100));
    add_measured(finding, measured, {"achieved_occupancy"});
    finding.next_step =
        "use fewer registers or less shared memory, or give each thread more independent loads";
    finding.code = "__global__ void __launch_bounds__(256, 4) kernel(…)";
    out.push_back(std::move(finding));
    return true;
  }

 private:
  static constexpr double kMinOfTime = 0.05;
};

}  // namespace

std::unique_ptr<FindingRule> make_low_occupancy_rule() {
  return std::make_unique<LowOccupancy>();
}

}  // namespace rangefinder
