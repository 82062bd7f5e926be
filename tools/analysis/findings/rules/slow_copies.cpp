// SPDX-License-Identifier: Apache-2.0
//
// Rule: copies between host and GPU that cannot overlap with other work. They use pageable memory, which
// the driver stages through its own buffer, or a call that waits. The saving is the sum of the longer of
// call, without the cost of recording it, and copy: all of it could overlap with kernels.
#include <algorithm>

#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

bool crosses_the_bus(const WorkEvent& copy) {
  return copy.copy == CopyKind::HtoD || copy.copy == CopyKind::DtoH;
}

class SlowCopies final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    std::uint64_t copies = 0, pageable = 0, bytes = 0, ns = 0, gpu_ns = 0, pinned_bytes = 0, pinned_ns = 0;
    bool known = true;
    for (const LoggedCopy& copy : context.log.copies()) {
      const WorkEvent& event = copy.event;
      if (!crosses_the_bus(event) || !context.in_loop(event.work.start_ns)) continue;
      const auto duration = event.duration();
      if (!copy.pageable() && event.async) {
        pinned_bytes += event.bytes;
        pinned_ns += duration;
        continue;
      }
      ++copies;
      if (copy.pageable()) ++pageable;
      bytes += event.bytes;
      gpu_ns += duration;
      const std::uint64_t call_ns = context.host_times_hold ? copy.call_ns() : 0;
      const std::optional<std::uint64_t> net_call_ns = context.net_ns(call_ns, 1);
      ns += std::max(duration, net_call_ns.value_or(call_ns));
      known &= net_call_ns || call_ns <= duration;
    }
    if (context.span_ns == 0 || gpu_ns == 0) return;
    const double share = static_cast<double>(ns) / static_cast<double>(context.span_ns);
    if (share < kMinShare) return;
    Finding finding;
    finding.id = "pageable_or_synchronous_copies";
    finding.title = pageable != 0 ? "Copies use pageable memory: they wait and cannot overlap with kernels"
                                  : "Copies are synchronous: they cannot overlap with kernels";
    finding.where = context.loop.path;
    if (known) finding.saving_ns = ns;
    finding.severity = severity_of(ns, context.span_ns);
    finding.evidence = {evidence_count("copies", "copies", copies),
                        evidence_count("pageable", "of these pageable", pageable),
                        evidence_bytes("bytes", "bytes", bytes),
                        evidence_ns("gpu_ns", "GPU time", gpu_ns),
                        evidence_ns("copy_ns", "sum of the longer of call and copy", ns),
                        evidence_rate("bytes_per_s", "copy bandwidth", rate(bytes, gpu_ns)),
                        evidence_share("share_of_time", "share of the analysed time", share)};
    if (pinned_ns != 0) {
      finding.evidence.push_back(evidence_rate(
          "pinned_bytes_per_s", "bandwidth of pinned asynchronous copies", rate(pinned_bytes, pinned_ns)));
    }
    finding.next_step =
        "copy asynchronously from pinned memory (cudaHostAlloc, cudaMemcpyAsync; PyTorch: pin_memory=True "
        "and .to(device, non_blocking=True)), ahead of the kernels that need the data";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinShare = 0.01;
  static double rate(std::uint64_t bytes, std::uint64_t ns) {
    return static_cast<double>(bytes) / (static_cast<double>(ns) * 1e-9);
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_slow_copies_rule() {
  return std::make_unique<SlowCopies>();
}

}  // namespace rangefinder
