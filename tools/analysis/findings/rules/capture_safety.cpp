// SPDX-License-Identifier: Apache-2.0
//
// Rule: calls made during a stream capture that forbids them; and, in a loop of many launches without a
// graph, the calls that prevent its capture.
//
// Forbidden: waiting for the GPU, synchronous copies, allocating outside a pool, and the legacy default
// stream, which waits for the captured stream.
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kMinKernels = 50;  // per iteration, for a graph to be worth it

bool is_synchronous_copy(std::string_view api) {
  const bool copies = api.starts_with("cuMemcpy") || api.starts_with("cuMemset");
  return copies && api.find("Async") == std::string_view::npos;
}

/// Allocations that cannot become nodes of the captured graph.
bool outside_of_pool(const AllocRecord& alloc) {
  return alloc.kind == AllocKind::device || alloc.kind == AllocKind::host || alloc.kind == AllocKind::managed;
}

class CaptureSafety final : public FindingRule {
 public:
  void line(const Line& line) override {
    if (const auto* const capture = std::get_if<CaptureRecord>(&line)) {
      take(*capture);
    } else if (const auto* const sync = std::get_if<SyncRecord>(&line)) {
      take(sync->host, std::string(sync->api));
    } else if (const auto* const alloc = std::get_if<AllocRecord>(&line)) {
      if (outside_of_pool(*alloc)) take(alloc->host, std::string(alloc->api));
    } else if (const auto* const launch = std::get_if<LaunchRecord>(&line)) {
      if (launch->result != 0 || is_synchronous_copy(launch->api))
        take(launch->host, std::string(launch->api));
    } else if (const auto* const context = std::get_if<ContextRecord>(&line)) {
      null_streams_[context->id] = context->null_stream;
    }
  }

  void work(const WorkEvent& event) override {
    const auto null_stream = null_streams_.find(event.work.context);
    if (event.kind != WorkKind::kernel || event.work.graph != 0) return;
    if (null_stream != null_streams_.end() && null_stream->second == event.work.stream) ++null_kernels_;
  }

  void find(const FindingContext& context, std::vector<Finding>& out) override {
    // Capturing is set-up, and some of these calls are allowed in its relaxed mode: a failure is for all to
    // see.
    if (context.rest ? unsafe_calls_ != 0 && broken_ == 0 : broken_ != 0) report_captures(context, out);
    report_obstacles(context, out);
  }

 private:
  static constexpr double kMinShare = 0.05;  // of the analysed time, in gaps that a graph would close
  void take(const CaptureRecord& capture) {
    const std::uint32_t thread = capture.host.thread;
    if (capture.step == CaptureStep::begin) {
      capturing_.insert(thread);
      ++captures_;
    } else {
      capturing_.erase(thread);
      if (capture.step == CaptureStep::invalidate || capture.result != 0) {
        ++broken_;
        where_ = capture.host.path;
      }
    }
  }
  void take(const HostWork& host, std::string api) {
    if (capturing_.count(host.thread) == 0) return;
    ++unsafe_calls_;
    ++unsafe_[std::move(api)];
    where_ = host.path;
  }

  void report_captures(const FindingContext& context, std::vector<Finding>& out) const {
    Finding finding;
    finding.id = "unsafe_during_capture";
    finding.where = where_ == 0 ? "" : numbers_folded(context.path_text(where_));
    finding.effect = broken_ != 0
                         ? finding.where.empty() ? "A stream capture failed" : "failed to capture a stream"
                     : finding.where.empty() ? "A capture contains calls that stream capture forbids"
                                             : "makes calls that stream capture forbids during a capture";
    finding.why = count_text(unsafe_calls_) + " such calls were made in " +
                  counted_text(captures_, "capture", "captures") + ", and " + count_text(broken_) +
                  " failed. ";
    finding.why += unsafe_.empty() ? "The calls of the failed capture are not in the trace."
                                   : "They are " + counts_text(unsafe_) + ".";
    finding.severity = broken_ != 0 ? Severity::serious : Severity::notable;
    finding.evidence = {evidence_count("captures", "captures", captures_),
                        evidence_count("failed", "failed captures", broken_),
                        evidence_count("unsafe_calls", "unsafe calls", unsafe_calls_)};
    if (!unsafe_.empty())
      finding.evidence.push_back(evidence_text("apis", "unsafe calls:", counts_text(unsafe_)));
    finding.next_step =
        "move these calls out of the capture: allocate before it, copy asynchronously, wait after it has "
        "ended";
    out.push_back(std::move(finding));
  }

  void report_obstacles(const FindingContext& context, std::vector<Finding>& out) const {
    const Loop& loop = context.loop;
    if (!loop.found() || !context.host_times_hold || context.rest) return;
    std::uint64_t kernels = 0, gap_ns = 0;
    for (const KernelPlace& place : context.places) {
      if (place.graph != 0 && loop.paths.count(place.path) != 0) return;  // the loop already uses graphs
    }
    for (const PathTotals& row : context.rows) {
      if (loop.paths.count(row.path) != 0 && loop.paths.count(context.input.trace.parent_of(row.path)) == 0)
        kernels += row.kernels;
    }
    for (const auto& [path, gaps] : context.gaps.short_gaps()) {
      if (loop.paths.count(path) != 0) gap_ns += gaps.ns + gaps.sync_ns;
    }
    const std::uint64_t iterations = loop.count + 1;
    const double share = static_cast<double>(gap_ns / iterations * loop.count / context.gaps.gpus()) /
                         static_cast<double>(context.span_ns);
    if (kernels < kMinKernels * iterations || share < kMinShare) return;
    std::map<std::string, std::uint64_t> obstacles;
    for (const LoggedCall& call : context.log.calls()) {
      const bool pool = call.memory == AllocKind::async || call.memory == AllocKind::pool;
      const bool counts = call.what == LoggedCall::What::sync || !pool;
      if (counts && loop.holds(call.start_ns)) ++obstacles[context.log.api(call.api)];
    }
    for (const LoggedCopy& copy : context.log.copies()) {
      const bool slow = copy.pageable() || !copy.event.async;
      if (slow && copy.event.copy != CopyKind::DtoD && loop.holds(copy.event.work.start_ns))
        ++obstacles["copies with pageable memory or that wait"];
    }
    if (obstacles.empty()) return;
    Finding finding;
    finding.id = "capture_obstacles";
    finding.effect = "makes calls that prevent the capture of an iteration in a CUDA graph";
    finding.where = loop.path;
    finding.of_ns = static_cast<std::uint64_t>(share * static_cast<double>(context.span_ns));
    finding.why = "Gaps that a graph would close take " + percent_text(share) +
                  " of the iterations, between " + count_text(kernels / iterations) +
                  " kernels. These calls prevent a capture: " + counts_text(obstacles) + ".";
    finding.evidence = {
        evidence_text("calls", "calls in these iterations:", counts_text(obstacles)),
        evidence_count("repetitions", "iterations", loop.count),
        evidence_count("kernels_per_repetition", "kernels per iteration", kernels / iterations),
        evidence_count("null_stream_kernels", "kernels on the legacy default stream", null_kernels_),
        evidence_share("share_of_time",
                       "gaps up to 100 us, which a graph would close, as a share of the analysed time",
                       share)};
    finding.next_step =
        "move these calls out of the loop, and launch on a stream that you create: then an iteration can be "
        "captured";
    out.push_back(std::move(finding));
  }

  std::unordered_set<std::uint32_t> capturing_;                    // threads
  std::unordered_map<std::uint32_t, std::uint32_t> null_streams_;  // by context
  std::map<std::string, std::uint64_t> unsafe_;
  std::uint64_t captures_ = 0, broken_ = 0, unsafe_calls_ = 0, null_kernels_ = 0;
  std::uint32_t where_ = 0;
};

}  // namespace

std::unique_ptr<FindingRule> make_capture_safety_rule() {
  return std::make_unique<CaptureSafety>();
}

}  // namespace rangefinder
