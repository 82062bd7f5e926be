// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernels end before the host has launched the next one, so launches limit the speed.
//
// Sums the gaps of 1 to 100 us that a late launch ended (gpu_gaps.h), without the cost of recording those
// launches. Excludes gaps after a synchronisation, which sync_each_iteration reports.
#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kMinGaps = 20;  // per iteration

/// Over all iterations, including the first.
struct Sums {
  std::uint64_t gaps = 0, gap_ns = 0, kernels = 0, kernel_ns = 0, iterations = 1;
};

bool inside_loop(const FindingContext& context, std::uint32_t path) {
  return !context.loop.found() || context.loop.paths.count(path) != 0;
}

Sums sums_of(const FindingContext& context) {
  Sums sums;
  for (const auto& [path, gaps] : context.gaps.short_gaps()) {
    if (!inside_loop(context, path)) continue;
    sums.gaps += gaps.count;
    sums.gap_ns += gaps.ns;
  }
  for (const KernelPlace& place : context.places) {
    if (!inside_loop(context, place.path)) continue;
    sums.kernels += place.use.count;
    sums.kernel_ns += place.use.total_ns;
  }
  if (context.loop.found()) sums.iterations = context.iterations.instances.size();
  return sums;
}

class LaunchBound final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (!context.host_times_hold || context.span_ns == 0 || context.rest) return;
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
    std::uint64_t ranges = 0;
    for (const PathTotals& row : context.rows) ranges += inside_loop(context, row.path) ? row.calls : 0;
    ranges /= sums.iterations;
    Finding finding;
    finding.id = "launch_bound";
    finding.where = context.loop.path;
    finding.effect = finding.where.empty() ? "The GPU waits for the host between short kernels"
                                           : "makes the GPU wait for the host between short kernels";
    finding.saving_ns = saving;
    finding.of_ns = of_analysed(sums.gap_ns);
    finding.why = "A kernel takes " + duration_text(mean_kernel) + ", the host " + duration_text(per_kernel) +
                  " to launch the next; " + count_text(sums.kernels / sums.iterations) + " run" +
                  context.per() + ". The GPU idles in " + count_text(sums.gaps / sums.iterations) +
                  " gaps of " + duration_text(sums.gap_ns / sums.gaps) +
                  "; the cost of recording a launch is subtracted" +
                  (ranges == 0 ? "." : ", that of " + count_text(ranges) + " ranges is not.");
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
        "replay an iteration as a CUDA graph, or run fewer and larger kernels: fuse them, or use larger "
        "batches";
    finding.code = "model = torch.compile(model, mode=\"reduce-overhead\")";
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
