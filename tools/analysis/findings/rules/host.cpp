// SPDX-License-Identifier: Apache-2.0
//
// Rules about the host: launches, synchronisations and allocations.
#include <algorithm>
#include <map>
#include <set>

#include "profiler/attribution/interval_union.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/findings/capture_calls.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"
#include "tools/analysis/queries/torch_memory.h"

namespace rangefinder {
namespace {

/// Over all iterations, including the first.
struct LaunchSums {
  std::uint64_t gaps = 0, gap_ns = 0, kernels = 0, kernel_ns = 0, ranges = 0, iterations = 1;
  std::uint64_t kernels_each = 0;  ///< of an analysed iteration, as `--section iterations` has them
};

bool inside_loop(const FindingContext& context, std::uint32_t path) {
  return !context.loop.found() || context.loop.paths.count(path) != 0;
}

LaunchSums launch_sums(const FindingContext& context) {
  LaunchSums sums;
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
  for (const PathTotals& row : context.rows) sums.ranges += inside_loop(context, row.path) ? row.calls : 0;
  if (context.loop.found()) sums.iterations = context.loop.all;
  sums.kernels_each = sums.kernels / sums.iterations;
  if (!context.loop.found()) return sums;
  const IterationLog& log = context.facts.iteration_log;
  std::uint64_t kernels = 0;
  for (const std::size_t i : log.seen()) kernels += log.counts(i) ? log.rows()[i].kernels : 0;
  sums.kernels_each = kernels / context.loop.count;
  return sums;
}

/// What `--section graphs --check` fails for.
std::string obstacles_text(const FindingContext& context, Finding& finding) {
  if (!context.loop.found() || loop_uses_graphs(context)) return "";
  std::uint64_t calls = 0;
  std::set<std::string> modules;
  for (const auto& [call, count] : loop_calls(context)) {
    if (call.obstacle == CaptureObstacle::none) continue;
    calls += count;
    modules.insert(context.module_text(call.path));
  }
  if (calls == 0) return "";
  finding.evidence.push_back(evidence_count("capture_obstacles", "calls that prevent a capture", calls));
  return " " + counted_text(calls, "call", "calls") + " of " +
         counted_text(modules.size(), "module", "modules") + (calls == 1 ? " stands" : " stand") +
         " in the way of a graph: `rangefinder report DIR --section graphs --check`.";
}

/// What the host did in the gaps of LaunchSums.
StackTimes stacks_in_gaps(const FindingContext& context) {
  StackTimes out;
  each_sample_in(context.facts.stacks, context.gaps.short_times(),
                 [&](std::uint32_t, const StackMoment& moment) {
                   if (!context.loop.found() || context.loop.contains(moment.at_ns)) out.add(moment);
                 });
  return out;
}

}  // namespace

// Kernels end before the host has launched the next one, so launches limit the speed.
//
// Sums the gaps of 1 to 100 us that a late launch ended (gpu_gaps.h), without the cost of recording those
// launches. Excludes gaps after a synchronisation, which sync_each_iteration reports.
void find_launch_bound(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinShare = 0.05;
  constexpr std::uint64_t kMinGaps = 20;  // per iteration
  if (!context.host_times_valid || context.span_ns == 0 || context.outside) return;
  const LaunchSums sums = launch_sums(context);
  if (sums.gaps < kMinGaps * sums.iterations || sums.kernels == 0) return;
  const std::uint64_t analysed = context.loop.found() ? context.loop.count : 1;
  const auto of_analysed = [&](std::uint64_t sum) {
    return sum * analysed / sums.iterations / context.gaps.gpus();
  };
  const std::uint64_t gross = of_analysed(sums.gap_ns - sums.gaps * GpuGaps::kShortestNs);
  const std::uint64_t launches = of_analysed(sums.gaps);  // each gap contains one
  const std::optional<std::uint64_t> saving = context.net_ns(gross, launches);
  const double share = context.of_span(saving.value_or(gross));
  // Of the time in which any runs: kernels side by side are no longer than the time between launches.
  const auto mean_kernel =
      static_cast<std::uint64_t>(context.busy_part * static_cast<double>(sums.kernel_ns / sums.kernels));
  const std::uint64_t per_kernel = context.span_ns / analysed / (sums.kernels_each + 1);
  if (share < kMinShare || mean_kernel >= per_kernel) return;
  const std::uint64_t ranges = sums.ranges / sums.iterations;
  Finding finding{"launch_bound", context.loop.path, of_analysed(sums.gap_ns), saving};
  finding.effect = finding.where.empty() ? "The GPU waits for the host between short kernels"
                                         : "makes the GPU wait for the host between short kernels";
  finding.why = "A kernel takes " + duration_text(mean_kernel) + ", and on average one starts every " +
                duration_text(per_kernel) + "; " + count_text(sums.kernels_each) + " run" + context.per() +
                ". The GPU idles in " + count_text(sums.gaps / sums.iterations) + " gaps of " +
                duration_text(sums.gap_ns / sums.gaps) + ", " + context.each_text(of_analysed(sums.gap_ns)) +
                context.per() + " in all.";
  if (saving) {
    finding.why += " 1 us for each gap and the cost of recording a launch are taken off the saving";
    finding.why += ranges == 0 ? "." : ", that of recording " + count_text(ranges) + " ranges is not.";
  }
  finding.evidence = {
      evidence_count("kernels_per_repetition", "kernels per iteration", sums.kernels_each),
      evidence_ns("mean_kernel_ns", "mean kernel time", mean_kernel),
      evidence_ns("time_per_kernel_ns", "elapsed time per kernel", per_kernel),
      evidence_count("gaps_per_repetition", "gaps of 1 to 100 us per iteration", sums.gaps / sums.iterations),
      evidence_ns("mean_gap_ns", "mean gap", sums.gap_ns / sums.gaps),
      evidence_share("share_of_time", "gaps minus 1 us each and recording, as a share of the analysed time",
                     share),
      evidence_count("repetitions", "iterations", analysed)};
  context.add_cost(finding, launches);
  add_function(context, stacks_in_gaps(context), finding);
  finding.why += obstacles_text(context, finding);
  finding.next_step =
      "replay an iteration as a CUDA graph, or run fewer and larger kernels: fuse them, or use larger "
      "batches";
  finding.code = "model = torch.compile(model, mode=\"reduce-overhead\")";
  out.push_back(std::move(finding));
}

namespace {

/// Synchronisations of the loop.
struct LoopWaits {
  std::map<std::string, std::uint64_t> apis;
  std::map<std::size_t, std::uint64_t> by_iteration;
  std::uint64_t calls = 0, waited_ns = 0;
};

LoopWaits loop_waits(const FindingContext& context) {
  LoopWaits waits;
  for (const LoggedCall& call : context.log.calls()) {
    if (call.what != LoggedCall::What::sync || !context.loop.contains(call.start_ns)) continue;
    ++waits.calls;
    waits.waited_ns += call.host_ns;
    ++waits.apis[context.log.api(call.api)];
    ++waits.by_iteration[context.iterations.last_before(call.start_ns)];
  }
  return waits;
}

}  // namespace

// Every iteration waits for the GPU, and the GPU then waits for the next launch.
//
// The saving is the sum of the idle gaps of 1 to 100 us that follow a synchronisation, without the cost of
// recording the launches in them. idle_in_range reports longer gaps. Where less than 90 % of the iterations
// synchronise, it is not a pattern of the loop.
void find_sync_each_iteration(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinShare = 0.01, kMinOfIterations = 0.9;
  if (!context.host_times_valid || !context.loop.found() || context.outside) return;
  std::uint64_t gaps = 0, gap_ns = 0;
  for (const auto& [path, of_path] : context.gaps.short_gaps()) {
    if (context.loop.paths.count(path) == 0) continue;
    gaps += of_path.sync_count;
    gap_ns += of_path.sync_ns;
  }
  const auto of_analysed = [&](std::uint64_t sum) {
    return sum * context.loop.count / context.loop.all / context.gaps.gpus();
  };
  const auto iterations = static_cast<double>(context.loop.count);
  const std::uint64_t gross = of_analysed(gap_ns), launches = of_analysed(gaps);
  const std::optional<std::uint64_t> saving = context.net_ns(gross, launches);
  const double share = context.of_span(saving.value_or(gross));
  if (share < kMinShare) return;
  const LoopWaits waits = loop_waits(context);
  if (static_cast<double>(waits.by_iteration.size()) / iterations < kMinOfIterations) return;
  Finding finding{"sync_each_iteration", context.loop.path, gross, saving};
  finding.effect = finding.where.empty() ? "The host waits for the GPU, which then waits for the host"
                                         : "waits for the GPU, which then waits for the host";
  finding.why = "The GPU idles for " + context.each_text(gross) +
                " an iteration after these calls: " + counts_text(waits.apis) + ". The host waits for " +
                context.each_text(waits.waited_ns) +
                " an iteration in them, and launches the next work only afterwards.";
  finding.evidence = {evidence_number("syncs_per_repetition", "synchronisations per iteration",
                                      static_cast<double>(waits.calls) / iterations),
                      evidence_text("apis", "calls:", counts_text(waits.apis)),
                      evidence_ns("waited_ns", "host wait time", waits.waited_ns),
                      evidence_count("gaps", "gaps after them", gaps),
                      evidence_share("share_of_time", "these gaps as a share of the analysed time", share),
                      evidence_count("repetitions", "iterations", context.loop.count)};
  context.add_cost(finding, launches);
  finding.next_step =
      "wait only where the host uses a result, if possible for an event of a few iterations before; .item(), "
      ".cpu() and print of a tensor all wait";
  finding.code = "total += loss.detach()  # total.item() once, after the loop";
  out.push_back(std::move(finding));
}

// The driver allocates or frees memory in every iteration.
//
// cuMemAlloc, cuMemFree and pinned allocations may wait for the whole GPU. Allocations from a pool
// (cuMemAllocAsync) never do and cost only the call, so their threshold is higher. The saving is the host
// time in all of these calls.
void find_allocations_in_loop(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinShare = 0.01, kMinShareOfPool = 0.10;
  if (!context.loop.found() || context.outside) return;
  std::uint64_t allocs = 0, frees = 0, pool_calls = 0, bytes = 0, ns = 0;
  for (const LoggedCall& call : context.log.calls()) {
    if (call.what == LoggedCall::What::sync || !context.loop.contains(call.start_ns)) continue;
    ++(call.what == LoggedCall::What::alloc ? allocs : frees);
    if (call.memory == AllocKind::async || call.memory == AllocKind::pool) ++pool_calls;
    bytes += call.bytes;
    ns += call.host_ns;
  }
  const auto per_iteration = [&context](std::uint64_t n) {
    return static_cast<double>(n) / static_cast<double>(context.loop.count);
  };
  const double share = context.of_span(ns);
  const std::uint64_t calls = allocs + frees;
  const bool pool = pool_calls == calls;
  if (calls < context.loop.count || share < (pool ? kMinShareOfPool : kMinShare)) return;
  Finding finding{"allocations_in_loop", context.loop.path, ns, ns};
  finding.effect = finding.where.empty() ? "Memory is allocated and freed in every iteration"
                                         : "allocates and frees memory in every iteration";
  finding.why = context.each_text(ns) + " an iteration pass in " +
                counted_text(context.each_count(calls, context.loop.count), "call that allocates or frees",
                             "calls that allocate or free") +
                ". ";
  const std::string outside_of_pools =
      pool_calls == 0 ? "All"
                      : percent_text(static_cast<double>(calls - pool_calls) / static_cast<double>(calls));
  finding.why += pool ? "All of them use a pool, which costs the call alone."
                      : outside_of_pools + " of them bypass a pool, so each may wait for the whole GPU.";
  finding.evidence = {
      evidence_number("allocs_per_repetition", "allocations per iteration", per_iteration(allocs)),
      evidence_number("frees_per_repetition", "frees per iteration", per_iteration(frees)),
      evidence_count("pool_calls", "of these from a pool (cuMemAllocAsync)", pool_calls),
      evidence_bytes("bytes", "bytes requested", bytes),
      evidence_ns("host_ns", "host time in these calls", ns),
      evidence_share("share_of_time", "share of the analysed time", share),
      evidence_count("repetitions", "iterations", context.loop.count)};
  finding.next_step =
      "allocate once before the loop and keep the memory, or take it from a pool (PyTorch does so unless its "
      "cache is emptied)";
  if (!pool) finding.code = "cudaMallocAsync(&memory, bytes, stream);";
  out.push_back(std::move(finding));
}

namespace {

/// The innermost module that keeps most of what `outer` grew by.
const TorchModuleMemory& keeper(const TorchGpuMemory& gpu, const TorchModuleMemory& outer, double growth) {
  constexpr double kMost = 0.8;
  const TorchModuleMemory* found = &outer;
  for (const TorchModuleMemory& inner : gpu.modules) {
    const bool keeps = static_cast<double>(inner.kept_bytes) >= kMost * growth;
    if (keeps && inner.path.starts_with(outer.path + "/") && inner.path.size() > found->path.size())
      found = &inner;
  }
  return *found;
}

}  // namespace

// What PyTorch's caching allocator has in use grows in every call of an outermost range, and is not freed:
// tensors outlive an iteration. The first two calls make gradients, states of optimizers and buffers.
void find_allocator_growth(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinGrowth = 1 << 20;  // bytes a call
  constexpr std::uint64_t kMinCalls = 5;
  if (context.outside) return;
  for (const TorchGpuMemory& gpu : read_torch_memory(context.input.trace.files.folder)) {
    for (const TorchModuleMemory& outer : gpu.modules) {
      const std::optional<double> growth = outer.growth_of_call();
      const auto later = static_cast<double>(outer.later_growth_bytes);
      const bool is_outermost = !outer.path.empty() && outer.path.find('/') == std::string::npos;
      if (!is_outermost || outer.calls < kMinCalls || growth.value_or(0) < kMinGrowth) continue;
      if (static_cast<double>(outer.kept_bytes) < later / 2) continue;  // freed outside of it
      Finding finding{"allocator_growth", keeper(gpu, outer, later).path};
      const std::string each = bytes_text(static_cast<std::uint64_t>(*growth));
      finding.effect = "keeps " + each + " more of PyTorch's memory in each call of " + outer.path;
      finding.why = "From the third call on, " + counted_text(outer.later_calls(), "call", "calls") +
                    " allocated " + bytes_text(static_cast<std::uint64_t>(later)) +
                    " more than was freed in them. At the end " + bytes_text(outer.kept_bytes) +
                    " of its allocations were in use.";
      finding.severity = Severity::notable;
      finding.evidence = {
          evidence_bytes("growth_bytes_per_call", "growth of a call", static_cast<std::uint64_t>(*growth)),
          evidence_bytes("kept_bytes", "in use at the end", outer.kept_bytes),
          evidence_count("repetitions", "calls", outer.calls)};
      finding.next_step =
          "look for tensors that outlive the iteration: losses or outputs in a list keep their whole graph";
      finding.code = "losses.append(loss.item())  # or loss.detach()";
      out.push_back(std::move(finding));
    }
  }
}

// What a framework compiles while the program runs: JAX, unless its cache on disk has the program.
void find_compilation(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinOfRun = 0.1;
  constexpr std::uint64_t kMinNs = 1'000'000'000;
  std::vector<Holds::Span> spans = context.facts.compilation;
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  IntervalUnion compiled;
  for (const Holds::Span& span : spans) compiled.add(span.start_ns, span.end_ns);
  const auto run_ns = static_cast<std::uint64_t>(std::max<TimeNs>(context.input.trace.last_ns, 1));
  const double part = static_cast<double>(compiled.length()) / static_cast<double>(run_ns);
  if (context.outside || compiled.length() < kMinNs || part < kMinOfRun) return;
  Finding finding{"compilation"};
  finding.effect = "Compilation took " + duration_text(compiled.length()) + " of " + duration_text(run_ns);
  finding.why =
      percent_text(part) +
      " of the run passed while XLA compiled, on any thread; its autotuner runs kernels meanwhile. The "
      "iterations are not slower for it.";
  finding.severity = Severity::notable;
  finding.evidence = {evidence_ns("compilation_ns", "compilation", compiled.length()),
                      evidence_ns("run_ns", "the run", run_ns),
                      evidence_share("run_share", "part of the run", part)};
  finding.next_step = "keep compiled programs on disk, so that only the first run compiles";
  finding.code = "export JAX_COMPILATION_CACHE_DIR=$HOME/.cache/jax";
  out.push_back(std::move(finding));
}

}  // namespace rangefinder
