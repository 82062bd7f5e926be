// SPDX-License-Identifier: Apache-2.0
//
// Rules about stream capture. capture_calls.h says which calls it forbids.
#include <algorithm>
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/queries/cells.h"

namespace rangefinder {
namespace {

struct Unsafe {
  std::map<std::string, std::uint64_t> apis;
  std::uint64_t calls = 0;
  std::uint32_t where = 0;  ///< path of the call that was made most often; of the failed capture
  CaptureCounts broke;      ///< calls, on any thread, that made a capture invalid
};
Unsafe unsafe_calls(const CaptureCalls& captures) {
  Unsafe out;
  std::uint64_t most = 0;
  for (const auto& [call, count] : captures.counts()) {
    if (call.obstacle == CaptureObstacle::none) continue;
    if (call.obstacle == CaptureObstacle::broke_capture) {
      out.broke.emplace(call, count);
      continue;
    }
    const bool is_capture = call.obstacle == CaptureObstacle::invalid_capture;
    if (!is_capture) {
      out.apis[call.api] += count;
      out.calls += count;
    }
    const std::uint64_t weight = is_capture ? UINT64_MAX : count;
    if (weight >= most) out.where = call.path;
    most = std::max(most, weight);
  }
  return out;
}

/// One finding for each module, thread and call: one fix.
void report_broken(const FindingContext& context, const Unsafe& unsafe, std::vector<Finding>& out) {
  const TraceTotals& trace = context.input.trace;
  for (const auto& [call, count] : unsafe.broke) {
    const std::string thread = thread_title(trace, call.thread), victim = context.module_text(call.broken);
    Finding finding{"unsafe_during_capture", context.module_text(call.path)};
    finding.effect = (finding.where.empty() ? call.api + " broke" : "broke") + std::string(" ") +
                     counted_text(count, "stream capture", "stream captures") +
                     (victim.empty() ? "" : " of " + victim);
    finding.why = call.api + " on thread " + thread + " returned " + capture_error_text(call.result) +
                  " while " + (call.elsewhere ? "another thread" : "the thread") +
                  " captured; the capture then ended without a graph.";
    finding.severity = Severity::serious;
    finding.evidence = {evidence_count("captures", "captures", context.facts.captures.captures()),
                        evidence_count("failed", "captures that it broke", count),
                        evidence_text("broken_by", "call:", call.api),
                        evidence_text("broken_on", "thread:", thread),
                        evidence_text("broken_result", "result:", capture_error_text(call.result)),
                        evidence_text("captured", "captured in:", path_title(trace, call.broken))};
    finding.next_step =
        call.elsewhere ? "make this call after the capture, or capture with "
                         "cudaStreamCaptureModeThreadLocal (PyTorch: capture_error_mode=\"thread_local\")"
                       : "make this call before or after the capture";
    out.push_back(std::move(finding));
  }
}

void report_captures(const FindingContext& context, const Unsafe& unsafe, std::vector<Finding>& out) {
  const CaptureCalls& captures = context.facts.captures;
  std::uint64_t broken = captures.invalid();
  for (const auto& [call, count] : unsafe.broke) broken -= count;
  if (broken == 0 && !unsafe.broke.empty()) return;
  Finding finding{"unsafe_during_capture", context.module_text(unsafe.where)};
  finding.effect = broken != 0
                       ? finding.where.empty() ? "A stream capture failed" : "failed to capture a stream"
                   : finding.where.empty() ? "A capture contains calls that stream capture forbids"
                                           : "makes calls that stream capture forbids during a capture";
  finding.why = count_text(unsafe.calls) + " such calls were made in " +
                counted_text(captures.captures(), "capture", "captures") + ", and " + count_text(broken) +
                " failed. ";
  finding.why += unsafe.apis.empty() ? "The calls of the failed capture are not in the trace."
                                     : "They are " + counts_text(unsafe.apis) + ".";
  finding.severity = broken != 0 ? Severity::serious : Severity::notable;
  finding.evidence = {evidence_count("captures", "captures", captures.captures()),
                      evidence_count("failed", "failed captures", broken),
                      evidence_count("unsafe_calls", "unsafe calls", unsafe.calls)};
  if (!unsafe.apis.empty())
    finding.evidence.push_back(evidence_text("apis", "unsafe calls:", counts_text(unsafe.apis)));
  finding.next_step =
      "move these calls out of the capture: allocate before it, copy asynchronously, wait after it has "
      "ended";
  out.push_back(std::move(finding));
}

}  // namespace

/// Calls made during a stream capture that forbids them. Capturing is set-up, and some of these calls are
/// allowed in its relaxed mode: a failure is for all to see.
void find_unsafe_during_capture(const FindingContext& context, std::vector<Finding>& out) {
  const Unsafe unsafe = unsafe_calls(context.facts.captures);
  const bool broken = context.facts.captures.invalid() != 0;
  if (!context.outside) report_broken(context, unsafe, out);
  if (context.outside ? unsafe.calls != 0 && !broken : broken) report_captures(context, unsafe, out);
}

/// In a loop of many launches without a graph, the calls that prevent its capture.
void find_capture_obstacles(const FindingContext& context, std::vector<Finding>& out) {
  constexpr std::uint64_t kMinKernels = 50;  // per iteration, for a graph to be worth it
  constexpr double kMinShare = 0.05;         // of the analysed time, in gaps that a graph would close
  const Loop& loop = context.loop;
  if (!loop.found() || !context.host_times_valid || context.outside) return;
  std::uint64_t kernels = 0, gap_ns = 0;
  if (loop_uses_graphs(context)) return;
  for (const PathTotals& row : context.rows) {
    if (loop.paths.count(row.path) != 0 && loop.paths.count(context.input.trace.parent_of(row.path)) == 0)
      kernels += row.kernels;
  }
  for (const auto& [path, gaps] : context.gaps.short_gaps()) {
    if (loop.paths.count(path) != 0) gap_ns += gaps.ns + gaps.sync_ns;
  }
  const std::uint64_t iterations = loop.all;
  const double share = context.of_span(gap_ns / iterations * loop.count / context.gaps.gpus());
  if (kernels < kMinKernels * iterations || share < kMinShare) return;
  std::map<std::string, std::uint64_t> obstacles;
  for (const auto& [call, count] : loop_calls(context)) {
    switch (call.obstacle) {
      case CaptureObstacle::none:
      case CaptureObstacle::default_stream:  // alone they are no reason: a capture uses another stream
        break;
      case CaptureObstacle::pageable_copy:
      case CaptureObstacle::synchronous_copy:
        obstacles["copies with pageable memory or that wait"] += count;
        break;
      default:
        obstacles[call.api] += count;
    }
  }
  if (obstacles.empty()) return;
  Finding finding{"capture_obstacles", loop.path,
                  static_cast<std::uint64_t>(share * static_cast<double>(context.span_ns))};
  finding.effect = "makes calls that prevent the capture of an iteration in a CUDA graph";
  finding.why = "Gaps that a graph would close take " + percent_text(share) + " of the iterations, between " +
                count_text(kernels / iterations) +
                " kernels. These calls prevent a capture: " + counts_text(obstacles) + ".";
  finding.evidence = {
      evidence_text("calls", "calls in these iterations:", counts_text(obstacles)),
      evidence_count("repetitions", "iterations", loop.count),
      evidence_count("kernels_per_repetition", "kernels per iteration", kernels / iterations),
      evidence_count("null_stream_kernels", "kernels on the legacy default stream",
                     context.log.default_stream_kernels()),
      evidence_share("share_of_time",
                     "gaps up to 100 us, which a graph would close, as a share of the analysed time", share)};
  finding.next_step =
      "move these calls out of the loop, and launch on a stream that you create: then an iteration can be "
      "captured";
  out.push_back(std::move(finding));
}

}  // namespace rangefinder
