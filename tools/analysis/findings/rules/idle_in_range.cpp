// SPDX-License-Identifier: Apache-2.0
//
// Rule: the GPU is idle for 100 us or more while the host is in a range, for example loading data.
//
// A gap is attributed to the innermost open range of the thread whose launch ended it (gpu_gaps.h;
// host_timeline.h keeps 24 bytes per range). Time in launch and copy calls is excluded: slow_copies reports
// copies that wait. So is time in which the profiler held the thread.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <unordered_map>
#include <utility>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"

namespace rangefinder {
namespace {

// Without a loop, much host work runs only once. So report only large shares, in programs of some length.
constexpr double kMinShareOnce = 0.20;
constexpr std::uint64_t kMinSpanOnceNs = 10'000'000;

struct Idle {
  std::uint64_t ns = 0, gaps = 0, longest_ns = 0;
  std::uint64_t sync_ns = 0, memory_ns = 0;  ///< of ns, in calls that wait, allocate or free
  StackTimes stacks;                         ///< of the same time
};

/// The place "" is outside any range.
void blame(const FindingContext& context, const LongGap& gap, std::map<std::string, Idle>& places) {
  const auto thread = context.facts.host_threads.find(gap.thread);
  std::map<std::string, std::uint64_t> of_gap;
  const auto take = [&](const HostPiece& piece) {
    if (piece.path == kHeldPath) return;
    if (!context.loop.found() && !context.analyses(piece.path)) return;
    const std::string place = context.module_text(piece.path);
    const std::uint64_t in_launches = piece.calls[static_cast<std::size_t>(HostCall::launch)];
    const std::uint64_t ns = piece.ns() - std::min(piece.ns(), in_launches);
    Idle& idle = places[place];
    idle.ns += ns;
    idle.sync_ns += piece.calls[static_cast<std::size_t>(HostCall::sync)];
    idle.memory_ns += piece.calls[static_cast<std::size_t>(HostCall::memory)];
    of_gap[place] += ns;
  };
  static const HostTimeline kNoHost;
  const HostTimeline& host = thread == context.facts.host_threads.end() ? kNoHost : thread->second;
  HostTimeline::Cursor anywhere;  // not kept: the gaps of several threads alternate
  host.visit(gap.start_ns, gap.end_ns, take, anywhere);
  context.facts.stacks.each(gap.thread, gap.start_ns, gap.end_ns, [&](const StackMoment& moment) {
    const HostPiece piece = host.at(moment.at_ns, anywhere);
    if (piece.path == kHeldPath || piece.in(HostCall::launch)) return;
    const auto place = places.find(context.module_text(piece.path));
    if (place != places.end()) place->second.stacks.add(moment);
  });
  for (const auto& [place, ns] : of_gap) {
    ++places[place].gaps;
    places[place].longest_ns = std::max(places[place].longest_ns, ns);
  }
}

/// What the host does in the gaps, and what to do about it.
struct HostAdvice {
  const char *why, *next_step, *python, *cpp;
};
constexpr HostAdvice kOwnCode{"The host runs its own code in that time and launches nothing.",
                              "do this host work in other threads, one iteration ahead of the GPU: load the "
                              "next batch, and copy it from "
                              "pinned memory",
                              "torch.utils.data.DataLoader(dataset, num_workers=8, pin_memory=True)", ""};
constexpr HostAdvice kWaits{
    "The host waits for the GPU in half of it or more, and launches only afterwards.",
    "launch the next work before the wait, or wait for an event of what the host needs instead of all work",
    "event.synchronize()  # of torch.cuda.Event, in place of torch.cuda.synchronize()",
    "cudaEventSynchronize(event);  // in place of cudaDeviceSynchronize()"};
constexpr HostAdvice kWaitsForWorkers{
    "The host launches nothing in that time.",
    "give the DataLoader more workers, or make what they do cheaper",
    "torch.utils.data.DataLoader(dataset, num_workers=16, prefetch_factor=4, persistent_workers=True)", ""};
constexpr HostAdvice kWaitsForOthers{"The host launches nothing in that time.",
                                     "shorten what the other thread or process does before this one goes on, "
                                     "or launch work before the wait",
                                     "", ""};
constexpr HostAdvice kCollects{
    "The interpreter collects garbage in that time.",
    "let each collection look at fewer objects: exclude those that stay, or collect between epochs",
    "gc.collect(); gc.freeze()  # before the loop; gc.disable() and gc.collect() where waiting does no harm",
    ""};
constexpr HostAdvice kImports{"The host imports modules in that time.",
                              "import them at the start of the program, before the loop", "", ""};
constexpr HostAdvice kAllocates{"The host allocates or frees memory in half of it or more.",
                                "allocate once and keep the buffers, or take them from a pool", "",
                                "cudaMallocAsync(&buffer, bytes, stream);"};

const HostAdvice& advice_for(StackState state) {
  switch (state) {
    case StackState::runs:
      return kOwnCode;
    case StackState::collects:
      return kCollects;
    case StackState::imports:
      return kImports;
    case StackState::waits:
      return kWaitsForOthers;
    case StackState::waits_for_workers:
      return kWaitsForWorkers;
  }
  return kOwnCode;
}

const HostAdvice& advice_for(const FindingContext& context, const Idle& idle) {
  constexpr double kMost = 0.5;
  const std::uint64_t waits = std::max(idle.sync_ns, idle.memory_ns);
  if (2 * waits < idle.ns) {
    const std::optional<MainFunction> main = main_function(context.input.trace.stacks, idle.stacks);
    return main && main->share(main->function) > kMost ? advice_for(main->function.state) : kOwnCode;
  }
  return idle.sync_ns == waits ? kWaits : kAllocates;
}

bool is_python(const Header& header) {
  return std::filesystem::path(header.executable).filename().string().starts_with("python");
}

/// "1 gap", "2.35 gaps".
std::string gaps_text(std::uint64_t gaps, std::uint64_t iterations) {
  const double each = static_cast<double>(gaps) / static_cast<double>(iterations);
  const double whole = std::round(each);
  if (std::abs(each - whole) < 0.01) return counted_text(static_cast<std::uint64_t>(whole), "gap", "gaps");
  return three_digits(each) + " gaps";
}

void report_idle(const FindingContext& context, const Idle& idle, const std::string& place,
                 std::vector<Finding>& out) {
  constexpr double kMinShare = 0.03;  // of the iterations' time
  const std::uint64_t ns = idle.ns / context.gaps.gpus();
  const double share = context.of_span(ns);
  const bool once = !context.loop.found() || context.outside;
  if (share < (once ? kMinShareOnce : kMinShare)) return;
  if (once && context.span_ns < kMinSpanOnceNs) return;
  Finding finding{"idle_in_range", place, ns, ns};
  finding.effect = place.empty() ? "The GPU is idle while the host works outside of any range"
                                 : "leaves the GPU idle while the host works";
  finding.why = "The GPU is idle for " + context.each_text(ns) + context.per() + ", in " +
                gaps_text(idle.gaps, once ? 1 : context.loop.count) +
                " of at least 100 us; the longest took " + duration_text(idle.longest_ns) + ". ";
  const HostAdvice& advice = advice_for(context, idle);
  finding.why += advice.why;
  add_function(context, idle.stacks, finding);
  finding.evidence = {
      evidence_ns("idle_ns", "GPU idle time", ns),
      evidence_share("share_of_time", "share of the analysed time", share),
      evidence_ns("time_ns", once ? "time from first to last GPU work" : "time of the iterations",
                  context.span_ns)};
  if (!once) {
    finding.evidence.push_back(evidence_count("repetitions", "iterations", context.loop.count));
    finding.evidence.push_back(
        evidence_ns("idle_ns_per_repetition", "idle time per iteration", ns / context.loop.count));
  }
  finding.evidence.push_back(evidence_count("gaps", "gaps of at least 100 us", idle.gaps));
  finding.evidence.push_back(evidence_ns("longest_ns", "longest gap", idle.longest_ns));
  finding.evidence.push_back(evidence_ns("in_sync_ns", "idle time in calls that wait", idle.sync_ns));
  finding.evidence.push_back(
      evidence_ns("in_memory_ns", "idle time in calls that allocate or free", idle.memory_ns));
  finding.next_step = advice.next_step;
  finding.code = is_python(context.input.trace.header) ? advice.python : advice.cpp;
  out.push_back(std::move(finding));
}

}  // namespace

void find_idle_in_range(const FindingContext& context, std::vector<Finding>& out) {
  if (!context.host_times_valid || context.span_ns == 0) return;
  std::map<std::string, Idle> places;
  for (const LongGap& gap : context.gaps.long_gaps()) {
    const bool inside = context.loop.contains(gap.start_ns) && context.loop.contains(gap.end_ns);
    if (!context.loop.found() || inside != context.outside) blame(context, gap, places);
  }
  for (const auto& [place, idle] : heaviest(places, [](const Idle& one) { return one.ns; }))
    report_idle(context, idle, place, out);
}

}  // namespace rangefinder
