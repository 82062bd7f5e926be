// SPDX-License-Identifier: Apache-2.0
//
// Rule: many copies are so small that their calls cost more than their bytes.
//
// Below 64 KiB a transfer over PCIe 5 takes less than the fixed cost of some microseconds. The saving is the
// longer of call time, without the cost of recording, and copy time, minus one copy per iteration, which
// would carry the same bytes.
#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr std::uint64_t kSmallBytes = 64 * 1024;
constexpr std::uint64_t kMinCopies = 10;  // per iteration

class SmallCopies final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (context.rest) return;
    const std::uint64_t iterations = std::max<std::uint64_t>(1, context.loop.count);
    std::uint64_t copies = 0, bytes = 0, call_ns = 0, copy_ns = 0;
    for (const LoggedCopy& copy : context.log.copies()) {
      const WorkEvent& event = copy.event;
      const bool small = event.bytes < kSmallBytes && event.work.graph == 0;
      const bool host = event.copy == CopyKind::HtoD || event.copy == CopyKind::DtoH;
      if (!small || !host || !context.takes(event.work.path, event.work.start_ns)) continue;
      ++copies;
      bytes += event.bytes;
      call_ns += context.host_times_hold ? copy.call_ns() : 0;
      copy_ns += event.duration();
    }
    if (copies < kMinCopies * iterations || context.span_ns == 0) return;
    const std::optional<std::uint64_t> net_call_ns = context.net_ns(call_ns, copies);
    const std::uint64_t total = std::max(net_call_ns.value_or(call_ns), copy_ns);
    const std::uint64_t saving = total - total / copies * iterations;
    const double share = static_cast<double>(saving) / static_cast<double>(context.span_ns);
    if (share < kMinShare) return;
    Finding finding;
    finding.id = "small_copies";
    finding.where = context.loop.path;
    const std::string each = count_text(copies / iterations) + " copies of " + bytes_text(bytes / copies);
    finding.effect =
        finding.where.empty() ? "The program makes " + each + " one by one" : "makes " + each + " one by one";
    if (net_call_ns || copy_ns >= call_ns) finding.saving_ns = saving;
    finding.of_ns = total;
    finding.why = "The calls take " + context.each_text(call_ns) + context.per() + ", the transfers " +
                  context.each_text(copy_ns) +
                  ". Below 64 KiB the fixed cost of a copy exceeds its transfer.";
    finding.evidence = {
        evidence_count("copies", "copies under 64 KiB", copies),
        evidence_number("copies_per_repetition", "copies per iteration",
                        static_cast<double>(copies) / static_cast<double>(iterations)),
        evidence_bytes("mean_bytes", "mean size", bytes / copies),
        evidence_ns("call_ns", "host time in their calls", call_ns),
        evidence_ns("copy_ns", "GPU time", copy_ns),
        evidence_share("share_of_time",
                       "the longer of the two minus one copy per iteration, as a share of the analysed time",
                       share)};
    if (call_ns != 0) context.add_cost(finding, copies);
    finding.next_step = "gather the data in one pinned buffer and copy it once, or batch the copies";
    finding.code = "cudaMemcpyBatchAsync(…);";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinShare = 0.01;
};

}  // namespace

std::unique_ptr<FindingRule> make_small_copies_rule() {
  return std::make_unique<SmallCopies>();
}

}  // namespace rangefinder
