// SPDX-License-Identifier: Apache-2.0
//
// Rules about copies between host and GPU.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/rules.h"

namespace rangefinder {
namespace {

bool crosses_the_bus(const WorkEvent& copy) {
  return copy.copy == CopyKind::HtoD || copy.copy == CopyKind::DtoH;
}

/// The slow copies of one module.
struct CopySums {
  std::uint64_t copies = 0, pageable = 0, bytes = 0, ns = 0, gpu_ns = 0;
  bool cost_known = true;  ///< the cost of recording the calls
  void add(const FindingContext& context, const LoggedCopy& copy) {
    ++copies;
    pageable += copy.pageable() ? 1 : 0;
    bytes += copy.event.bytes;
    const std::uint64_t duration = copy.event.duration();
    gpu_ns += duration;
    const std::uint64_t call_ns = context.host_times_valid ? copy.call_ns() : 0;
    const std::optional<std::uint64_t> net_call_ns = context.net_ns(call_ns, 1);
    ns += std::max(duration, net_call_ns.value_or(call_ns));
    cost_known &= net_call_ns || call_ns <= duration;
  }
  CopySums& operator+=(const CopySums& other) {
    copies += other.copies;
    pageable += other.pageable;
    bytes += other.bytes;
    ns += other.ns;
    gpu_ns += other.gpu_ns;
    cost_known &= other.cost_known;
    return *this;
  }
  [[nodiscard]] double rate() const {
    return static_cast<double>(bytes) / (static_cast<double>(gpu_ns) * 1e-9);
  }
};

void add_slow_copies(const FindingContext& context, const std::string& module, const CopySums& sums,
                     const CopySums& pinned, std::vector<Finding>& out) {
  constexpr double kMinShare = 0.01;
  if (context.span_ns == 0 || sums.gpu_ns == 0) return;
  const double share = context.of_span(sums.ns);
  if (share < kMinShare && !context.outside) return;
  Finding finding{"pageable_or_synchronous_copies", module};
  const std::string what = sums.pageable != 0 ? "pageable memory" : "calls that wait";
  finding.effect =
      (module.empty() ? "Copies between host and GPU use " : "copies between host and GPU with ") + what;
  if (sums.cost_known) finding.saving_ns = sums.ns;
  finding.of_ns = sums.ns;
  finding.why = "Calls and copies take " + context.each_text(sums.ns) + context.per() +
                ", the transfers run at " + rate_text(sums.rate()) +
                (pinned.gpu_ns == 0 ? "" : "; pinned ones here reach " + rate_text(pinned.rate())) + ". " +
                count_text(sums.pageable) + " of " + count_text(sums.copies) +
                " use pageable memory, which the driver stages, and the host waits for each.";
  finding.evidence = {evidence_count("copies", "copies", sums.copies),
                      evidence_count("pageable", "of these pageable", sums.pageable),
                      evidence_bytes("bytes", "bytes", sums.bytes),
                      evidence_ns("gpu_ns", "GPU time", sums.gpu_ns),
                      evidence_ns("copy_ns", "sum of the longer of call and copy", sums.ns),
                      evidence_rate("bytes_per_s", "copy bandwidth", sums.rate()),
                      evidence_share("share_of_time", "share of the analysed time", share)};
  if (pinned.gpu_ns != 0) {
    finding.evidence.push_back(
        evidence_rate("pinned_bytes_per_s", "bandwidth of pinned asynchronous copies", pinned.rate()));
  }
  finding.next_step =
      "copy asynchronously from pinned memory, ahead of the kernels that need the data (CUDA: "
      "cudaHostAlloc)";
  finding.code = "batch = batch.pin_memory().to(device, non_blocking=True)";
  out.push_back(std::move(finding));
}

}  // namespace

// Copies between host and GPU that cannot overlap with other work.
//
// They use pageable memory, which the driver stages through its own buffer, or a call that waits. The saving
// is the sum of the longer of call, without the cost of recording it, and copy: all of it could overlap with
// kernels.
void find_slow_copies(const FindingContext& context, std::vector<Finding>& out) {
  std::unordered_map<std::uint32_t, CopySums> paths;
  CopySums pinned;
  for (const LoggedCopy& copy : context.log.copies()) {
    const WorkEvent& event = copy.event;
    if (!crosses_the_bus(event) || !context.analyses(event.work.path, event.work.start_ns)) continue;
    (copy.pageable() || !event.async ? paths[event.work.path] : pinned).add(context, copy);
  }
  std::map<std::string, CopySums> modules;
  for (const auto& [path, sums] : paths) modules[context.module_text(path)] += sums;
  for (const auto& [module, sums] : heaviest(modules, [](const CopySums& one) { return one.ns; }))
    add_slow_copies(context, module, sums, pinned, out);
}

// Many copies are so small that their calls cost more than their bytes.
//
// Below 64 KiB a transfer over PCIe 5 takes less than the fixed cost of some microseconds. The saving is the
// longer of call time, without the cost of recording, and copy time, minus one copy per iteration, which
// would carry the same bytes.
void find_small_copies(const FindingContext& context, std::vector<Finding>& out) {
  constexpr double kMinShare = 0.01;
  constexpr std::uint64_t kSmallBytes = 64 * 1024;
  constexpr std::uint64_t kMinCopies = 10;  // per iteration
  if (context.outside) return;
  const std::uint64_t iterations = std::max<std::uint64_t>(1, context.loop.count);
  std::uint64_t copies = 0, bytes = 0, call_ns = 0, copy_ns = 0;
  for (const LoggedCopy& copy : context.log.copies()) {
    const WorkEvent& event = copy.event;
    const bool small = event.bytes < kSmallBytes && event.work.graph == 0;
    if (!small || !crosses_the_bus(event) || !context.analyses(event.work.path, event.work.start_ns))
      continue;
    ++copies;
    bytes += event.bytes;
    call_ns += context.host_times_valid ? copy.call_ns() : 0;
    copy_ns += event.duration();
  }
  if (copies < kMinCopies * iterations || context.span_ns == 0) return;
  const std::optional<std::uint64_t> net_call_ns = context.net_ns(call_ns, copies);
  const std::uint64_t total = std::max(net_call_ns.value_or(call_ns), copy_ns);
  const std::uint64_t saving = total - total / copies * iterations;
  const double share = context.of_span(saving);
  if (share < kMinShare) return;
  Finding finding{"small_copies", context.loop.path};
  finding.effect = (finding.where.empty() ? "The program makes " : "makes ") +
                   count_text(copies / iterations) + " copies of " + bytes_text(bytes / copies) +
                   " one by one";
  if (net_call_ns || copy_ns >= call_ns) finding.saving_ns = saving;
  finding.of_ns = total;
  finding.why = "The calls take " + context.each_text(call_ns) + context.per() + ", the transfers " +
                context.each_text(copy_ns) + ". Below 64 KiB the fixed cost of a copy exceeds its transfer.";
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

}  // namespace rangefinder
