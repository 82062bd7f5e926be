// SPDX-License-Identifier: Apache-2.0
//
// Rule: copies between host and GPU that cannot overlap with other work. They use pageable memory, which
// the driver stages through its own buffer, or a call that waits. The saving is the sum of the longer of
// call, without the cost of recording it, and copy: all of it could overlap with kernels.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

bool crosses_the_bus(const WorkEvent& copy) {
  return copy.copy == CopyKind::HtoD || copy.copy == CopyKind::DtoH;
}

double rate(std::uint64_t bytes, std::uint64_t ns) {
  return static_cast<double>(bytes) / (static_cast<double>(ns) * 1e-9);
}

/// The slow copies of one module.
struct CopySums {
  std::uint64_t copies = 0, pageable = 0, bytes = 0, ns = 0, gpu_ns = 0;
  bool known = true;  ///< the cost of recording the calls
  void add(const FindingContext& context, const LoggedCopy& copy) {
    ++copies;
    pageable += copy.pageable() ? 1 : 0;
    bytes += copy.event.bytes;
    const std::uint64_t duration = copy.event.duration();
    gpu_ns += duration;
    const std::uint64_t call_ns = context.host_times_hold ? copy.call_ns() : 0;
    const std::optional<std::uint64_t> net_call_ns = context.net_ns(call_ns, 1);
    ns += std::max(duration, net_call_ns.value_or(call_ns));
    known &= net_call_ns || call_ns <= duration;
  }
  CopySums& operator+=(const CopySums& other) {
    copies += other.copies;
    pageable += other.pageable;
    bytes += other.bytes;
    ns += other.ns;
    gpu_ns += other.gpu_ns;
    known &= other.known;
    return *this;
  }
};

class SlowCopies final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    std::unordered_map<std::uint32_t, CopySums> paths;
    CopySums pinned;
    for (const LoggedCopy& copy : context.log.copies()) {
      const WorkEvent& event = copy.event;
      if (!crosses_the_bus(event) || !context.takes(event.work.path, event.work.start_ns)) continue;
      (copy.pageable() || !event.async ? paths[event.work.path] : pinned).add(context, copy);
    }
    std::map<std::string, CopySums> modules;
    for (const auto& [path, sums] : paths)
      modules[path == 0 ? "" : numbers_folded(context.path_text(path))] += sums;
    for (const auto& [module, sums] : heaviest(modules, [](const CopySums& one) { return one.ns; }))
      report(context, module, sums, pinned, out);
  }

 private:
  static constexpr double kMinShare = 0.01;
  static void report(const FindingContext& context, const std::string& module, const CopySums& sums,
                     const CopySums& pinned, std::vector<Finding>& out) {
    if (context.span_ns == 0 || sums.gpu_ns == 0) return;
    const double share = static_cast<double>(sums.ns) / static_cast<double>(context.span_ns);
    if (share < kMinShare && !context.rest) return;
    Finding finding;
    finding.id = "pageable_or_synchronous_copies";
    finding.where = module;
    const std::string what = sums.pageable != 0 ? "pageable memory" : "calls that wait";
    finding.effect =
        (module.empty() ? "Copies between host and GPU use " : "copies between host and GPU with ") + what;
    if (sums.known) finding.saving_ns = sums.ns;
    finding.of_ns = sums.ns;
    finding.why =
        "The copies take " + context.each_text(sums.ns) + context.per() + ", at " +
        rate_text(rate(sums.bytes, sums.gpu_ns)) +
        (pinned.gpu_ns == 0 ? ""
                            : "; pinned ones here reach " + rate_text(rate(pinned.bytes, pinned.gpu_ns))) +
        ". " + count_text(sums.pageable) + " of " + count_text(sums.copies) +
        " use pageable memory, which the driver stages, and the host waits for each.";
    finding.evidence = {evidence_count("copies", "copies", sums.copies),
                        evidence_count("pageable", "of these pageable", sums.pageable),
                        evidence_bytes("bytes", "bytes", sums.bytes),
                        evidence_ns("gpu_ns", "GPU time", sums.gpu_ns),
                        evidence_ns("copy_ns", "sum of the longer of call and copy", sums.ns),
                        evidence_rate("bytes_per_s", "copy bandwidth", rate(sums.bytes, sums.gpu_ns)),
                        evidence_share("share_of_time", "share of the analysed time", share)};
    if (pinned.gpu_ns != 0) {
      finding.evidence.push_back(evidence_rate("pinned_bytes_per_s",
                                               "bandwidth of pinned asynchronous copies",
                                               rate(pinned.bytes, pinned.gpu_ns)));
    }
    finding.next_step =
        "copy asynchronously from pinned memory, ahead of the kernels that need the data (CUDA: "
        "cudaHostAlloc)";
    finding.code = "batch = batch.pin_memory().to(device, non_blocking=True)";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_slow_copies_rule() {
  return std::make_unique<SlowCopies>();
}

}  // namespace rangefinder
