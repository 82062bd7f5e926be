// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernels end before the host has launched the next one, so launches limit the speed.
//
// Sums the gaps of 1 to 100 us that a late launch ended (gpu_gaps.h), without the cost of recording those
// launches. Excludes gaps after a synchronisation, which sync_each_iteration reports.
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kMinGaps = 20;  // per iteration

/// Over all iterations, including the first.
struct Sums {
  std::uint64_t gaps = 0, gap_ns = 0, kernels = 0, kernel_ns = 0, iterations = 1;
};

Sums sums_of(const FindingContext& context) {
  Sums sums;
  const auto inside = [&context](std::uint32_t path) {
    return !context.loop.found() || context.loop.paths.count(path) != 0;
  };
  for (const auto& [path, gaps] : context.gaps.short_gaps()) {
    if (!inside(path)) continue;
    sums.gaps += gaps.count;
    sums.gap_ns += gaps.ns;
  }
  for (const PathTotals& row : context.input.trace.rows()) {
    const bool is_top = context.loop.found()
                            ? inside(row.path) && !inside(context.input.trace.parent_of(row.path))
                            : row.depth <= 1;
    if (!is_top) continue;
    sums.kernels += row.kernels;
    sums.kernel_ns += row.gpu_ns;
  }
  if (context.loop.found()) sums.iterations = context.iterations.instances.size();
  return sums;
}

class LaunchBound final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (!context.host_times_hold || context.span_ns == 0) return;
    const Sums sums = sums_of(context);
    if (sums.gaps < kMinGaps * sums.iterations || sums.kernels == 0) return;
    const std::uint64_t analysed = context.loop.found() ? context.loop.count : 1;
    const auto of_analysed = [&](std::uint64_t sum) {
      return sum * analysed / sums.iterations / context.gaps.gpus();
    };
    const std::uint64_t gross = of_analysed(sums.gap_ns - sums.gaps * GpuGaps::kShortestNs);
    const std::uint64_t launches = of_analysed(sums.gaps);  // each gap contains one
    const std::optional<std::uint64_t> saving = context.net_ns(gross, launches);
    const double share = static_cast<double>(saving.value_or(gross)) / static_cast<double>(context.span_ns);
    const std::uint64_t mean_kernel = sums.kernel_ns / sums.kernels;
    const std::uint64_t per_kernel = context.span_ns / analysed / (sums.kernels / sums.iterations + 1);
    if (share < kMinShare || mean_kernel >= per_kernel) return;
    Finding finding;
    finding.id = "launch_bound";
    finding.title = "Kernels are shorter than the time the host takes to launch the next one";
    finding.where = context.loop.path;
    finding.saving_ns = saving;
    finding.severity = severity_of(saving.value_or(gross), context.span_ns);
    finding.evidence = {
        evidence_count("kernels_per_repetition", "kernels per iteration", sums.kernels / sums.iterations),
        evidence_ns("mean_kernel_ns", "mean kernel time", mean_kernel),
        evidence_ns("time_per_kernel_ns", "elapsed time per kernel", per_kernel),
        evidence_count("gaps_per_repetition", "gaps of 1 to 100 us per iteration",
                       sums.gaps / sums.iterations),
        evidence_ns("mean_gap_ns", "mean gap", sums.gap_ns / sums.gaps),
        evidence_share("share_of_time", "gaps minus 1 us each and recording, as a share of the analysed time",
                       share),
        evidence_count("repetitions", "iterations", analysed)};
    context.add_cost(finding, launches);
    finding.next_step =
        "capture an iteration in a CUDA graph (PyTorch: torch.cuda.graph, or torch.compile with "
        "mode=\"reduce-overhead\"), or run fewer and larger kernels: fuse them, or use larger batches";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinShare = 0.05;
};

}  // namespace

std::unique_ptr<FindingRule> make_launch_bound_rule() {
  return std::make_unique<LaunchBound>();
}

}  // namespace rangefinder
