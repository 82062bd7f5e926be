// SPDX-License-Identifier: Apache-2.0
//
// Rules about how full kernels keep the GPU, from their launch configurations (occupancy.h).
#include <cmath>
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"
#include "tools/analysis/queries/kernel_kinds.h"
#include "tools/analysis/queries/occupancy.h"

namespace rangefinder {
namespace {

struct TailGrids {
  std::uint64_t ns = 0, launches = 0;
  double saved_ns = 0;
  KernelUse heaviest;
  double waves = 0;  // of the heaviest
};

void add_tail_wave(const FindingContext& context, const std::string& module, const TailGrids& tails,
                   std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.02;
  const auto saved_ns = static_cast<std::uint64_t>(tails.saved_ns);
  if (context.of_gpu(saved_ns) < kMinOfTime) return;
  const double filled = tails.waves - std::floor(tails.waves);
  Finding finding{"tail_wave", module, context.of_analysed(tails.ns), context.of_analysed(saved_ns)};
  set_kernel(context, tails.heaviest.name, finding);
  finding.effect = "leaves the last wave of its grids " + percent_text(1 - filled) + " empty";
  finding.why = three_digits(tails.waves) + " waves of blocks take the time of " +
                three_digits(std::ceil(tails.waves)) + " in `" + finding.kernel +
                "`. Grids with such a tail take " + context.each_text(finding.of_ns) + context.per() +
                " in this module.";
  finding.evidence = {evidence_number("waves", "waves of the heaviest grid", tails.waves),
                      evidence_share("last_wave_filled", "its last wave is filled by", filled),
                      evidence_ns("gpu_ns", "GPU time of grids with such a tail", tails.ns),
                      evidence_count("launches", "their launches", tails.launches)};
  finding.next_step =
      "choose tiles or a batch so that the blocks fill whole waves, or let blocks take several tiles "
      "(stream-K, persistent kernels)";
  out.push_back(std::move(finding));
}

}  // namespace

// The last wave of a grid is mostly empty.
//
//   grid of 2.1 waves   ├ wave 1: full ┤├ wave 2: full ┤├ wave 3: 10 % ┤      3 waves of time for the work
//   of 2.1
//
// As if all blocks took equally long. Reported where a fifth of the blocks' places is empty: grids of more
// than five waves cannot lose that. The saving is that share of the kernel's time. Where kernels run beside
// each other, another one may fill the last wave: silent.
void find_tail_wave(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinLost = 0.20;
  if (context.gpu() == nullptr || context.concurrent) return;
  std::map<std::string, TailGrids> modules;
  for (const KernelPlace& place : context.places) {
    const LaunchConfigRecord* const config = context.kernels.config(place.use.config);
    if (config == nullptr || place.path == 0) continue;
    const auto occupancy = occupancy_of(*context.gpu(), *config);
    if (!occupancy || occupancy->waves <= 1) continue;
    const double lost = 1 - occupancy->waves / std::ceil(occupancy->waves);
    if (lost < kMinLost) continue;
    TailGrids& tails = modules[context.module_text(place.path)];
    tails.ns += place.use.total_ns;
    tails.launches += place.use.count;
    tails.saved_ns += lost * static_cast<double>(place.use.total_ns);
    if (place.use.total_ns <= tails.heaviest.total_ns) continue;
    tails.heaviest = place.use;
    tails.waves = occupancy->waves;
  }
  for (const auto& [module, tails] : heaviest(modules, [](const TailGrids& one) { return one.saved_ns; }))
    add_tail_wave(context, module, tails, out);
}

// Too few warps fit on a multiprocessor to hide memory latency.
//
// occupancy.h also has the limiter. Not reported for grids under one wave (see grid_under_one_wave), nor
// where the measured issue slots are busy in 60 % of the cycles, nor for matrix products, convolutions and
// attention, which use few warps with many registers by design.
bool low_occupancy_of_kernel(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinOfTime = 0.05, kMinOccupancy = 0.25, kBusyIssue = 60;
  const LaunchConfigRecord* const config = context.kernels.config(use.config);
  if (config == nullptr || context.gpu() == nullptr || context.of_gpu(use.total_ns) < kMinOfTime)
    return false;
  const auto occupancy = occupancy_of(*context.gpu(), *config);
  if (!occupancy || occupancy->waves < 1 || occupancy->share() >= kMinOccupancy) return false;
  if (keeps_few_warps(context.kernel_name(use.name))) return false;
  const NamedValues& measured = context.kernels.measured(use.name).values;
  const auto issue = measured.value("issue_slots");
  if (issue && *issue >= kBusyIssue) return false;
  const std::uint64_t shared_bytes =
      std::uint64_t{config->static_shared_bytes} + config->dynamic_shared_bytes;
  Finding finding = finding_of_kernel("low_occupancy", use, context);
  finding.effect =
      kernel_subject(finding) + "has few warps to hide latency, limited by " + occupancy->limiter();
  finding.why = "The occupancy of `" + finding.kernel + "` is " + percent_text(occupancy->share()) + ": " +
                count_text(occupancy->warps_per_sm) + " of " + count_text(occupancy->max_warps) +
                " warps. A thread has " + count_text(config->registers) + " registers, a block " +
                bytes_text(shared_bytes) + " of shared memory.";
  finding.evidence = {evidence_share("occupancy", "theoretical occupancy", occupancy->share()),
                      evidence_count("warps_per_sm", "warps per multiprocessor", occupancy->warps_per_sm),
                      evidence_text("limiter", "limited by", occupancy->limiter()),
                      evidence_count("registers", "registers per thread", config->registers),
                      evidence_bytes("shared_bytes", "shared memory per block", shared_bytes),
                      evidence_number("waves", "waves", occupancy->waves),
                      evidence_ns("gpu_ns", "GPU time", use.total_ns),
                      evidence_of_gpu(context, use.total_ns)};
  if (issue) finding.evidence.push_back(evidence_share("issue_active", "issue slots in use", *issue / 100));
  add_measured(finding, measured, {"achieved_occupancy"});
  finding.next_step = "use fewer registers or less shared memory, or give each thread more independent loads";
  finding.code = "__global__ void __launch_bounds__(256, 4) kernel(…)";
  out.push_back(std::move(finding));
  return true;
}

namespace {

struct SmallGrids {
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
std::string blocks_text(std::uint64_t blocks, std::uint32_t sms) {
  const std::string all = count_text(sms) + " multiprocessors";
  if (blocks < sms)
    return count_text(blocks) + " of " + all + (blocks == 1 ? " has a block" : " have a block");
  return all + ", which hold more, run " + count_text(blocks) + " blocks";
}

std::string throughput_text(const NamedValues& measured) {
  const auto compute = measured.value("compute_throughput"), occupancy = measured.value("achieved_occupancy");
  if (!compute || !occupancy)
    return "Their low throughput comes from the size of the problem: occupancy does not change it.";
  return "Compute reaches " + three_digits(*compute) + " % of its peak, and the achieved occupancy is " +
         three_digits(*occupancy) + " %: the problem is too small for this GPU, whatever the kernel does.";
}

void add_grid_under_one_wave(const FindingContext& context, const std::string& module,
                             const SmallGrids& small, std::vector<Finding>& out) {
  constexpr double kMinOfIteration = 0.10;
  const std::uint64_t all_ns = context.loop.found() && context.host_times_valid
                                   ? context.span_ns
                                   : context.of_analysed(context.gpu_ns);
  const std::uint64_t ns = context.of_analysed(small.ns);
  if (context.outside || static_cast<double>(ns) < kMinOfIteration * static_cast<double>(all_ns)) return;
  const double fill = small.fill_ns / static_cast<double>(small.ns);
  const std::uint32_t sms = context.gpu()->sm_count;
  Finding finding{"grid_under_one_wave", module, ns};
  set_kernel(context, small.heaviest.name, finding);
  finding.effect =
      kernel_subject(finding) + "fills " + percent_text(fill) + " of the GPU, because its grids are small";
  const NamedValues& measured = context.kernels.measured(small.heaviest.name).values;
  finding.why = blocks_text(small.heaviest_blocks, sms) + " of `" + finding.kernel + "`; such grids fill " +
                percent_text(fill) + " of a wave. " + throughput_text(measured);
  finding.evidence = {
      evidence_share("mean_fill", "mean fraction of a wave, weighted by time", fill),
      evidence_ns("gpu_ns", "GPU time in grids under one wave", small.ns),
      evidence_of_gpu(context, small.ns),
      evidence_count("launches", "launches under one wave", small.launches),
      evidence_count("heaviest_blocks", "blocks of the heaviest of them", small.heaviest_blocks),
      evidence_count("multiprocessors", "multiprocessors", sms)};
  add_measured(finding, measured, {"compute_throughput", "memory_throughput", "achieved_occupancy"});
  finding.next_step =
      "give the GPU more concurrent work: a larger batch, split-K or stream-K for matrix products, or "
      "independent branches on several streams";
  out.push_back(std::move(finding));
}

}  // namespace

// Grids that fill less than half a wave.
//
//   blocks < multiprocessors x blocks resident / 2        half of the GPU has nothing to do
//
// Their low throughput is structural: it comes from the size of the problem, not from the kernel. So
// low_occupancy skips grids under one wave. There is no saving: the trace cannot show whether the work could
// be split into more blocks. Silent without a module, below a tenth of an iteration, and below 1 ms of
// kernels in all, because many programs have some such kernels and most do not matter; and where kernels run
// beside each other, because small grids together can fill a GPU. A grid of one block is a decision: a scan,
// a wait, the last step of a reduction. Of a product, convolution or attention it is a small problem, and is
// reported. Measured throughput and occupancy are evidence; who measures them studies the kernel, so a short
// program without ranges counts too.
void find_grid_under_one_wave(const FindingContext& context, std::vector<Finding>& out) {
  constexpr std::uint64_t kMinGpuNs = 1'000'000;
  const GpuRecord* const gpu = context.gpu();
  const bool studied = context.kernels.any_measured("compute_throughput");
  if (gpu == nullptr || gpu->sm_count == 0 || context.concurrent) return;
  if (context.gpu_ns < kMinGpuNs && !studied) return;
  std::map<std::string, SmallGrids> modules;
  for (const KernelPlace& place : context.places) {
    const LaunchConfigRecord* const config = context.kernels.config(place.use.config);
    if (config == nullptr || (place.path == 0 && !studied)) continue;
    const auto occupancy = occupancy_of(*gpu, *config);
    const std::uint64_t blocks = std::uint64_t{config->grid.x} * config->grid.y * config->grid.z;
    if (!occupancy || occupancy->waves >= kHalfWave ||
        (blocks == 1 && !keeps_few_warps(context.kernel_name(place.use.name))))
      continue;
    modules[context.module_text(place.path)].add(place.use, blocks, occupancy->waves);
  }
  for (const auto& [module, small] : heaviest(modules, [](const SmallGrids& one) { return one.ns; }))
    add_grid_under_one_wave(context, module, small, out);
}

}  // namespace rangefinder
