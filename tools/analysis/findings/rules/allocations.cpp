// SPDX-License-Identifier: Apache-2.0
//
// Rule: the driver allocates or frees memory in every iteration.
//
// cuMemAlloc, cuMemFree and pinned allocations may wait for the whole GPU. Allocations from a pool
// (cuMemAllocAsync) cost only the call. The saving is the host time in all of these calls.
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

class Allocations final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (!context.loop.found()) return;
    std::uint64_t allocs = 0, frees = 0, pool_calls = 0, bytes = 0, ns = 0;
    for (const LoggedCall& call : context.log.calls()) {
      if (call.what == LoggedCall::What::sync || !context.loop.holds(call.start_ns)) continue;
      ++(call.what == LoggedCall::What::alloc ? allocs : frees);
      if (call.memory == AllocKind::async || call.memory == AllocKind::pool) ++pool_calls;
      bytes += call.bytes;
      ns += call.host_ns;
    }
    const double share = static_cast<double>(ns) / static_cast<double>(context.span_ns);
    if (allocs + frees < context.loop.count || share < kMinShare) return;
    Finding finding;
    finding.id = "allocations_in_loop";
    finding.title = "Memory is allocated and freed in every iteration";
    finding.where = context.loop.path;
    finding.saving_ns = ns;
    finding.severity = severity_of(ns, context.span_ns);
    const auto per_iteration = [&context](std::uint64_t n) {
      return static_cast<double>(n) / static_cast<double>(context.loop.count);
    };
    finding.evidence = {
        evidence_number("allocs_per_repetition", "allocations per iteration", per_iteration(allocs)),
        evidence_number("frees_per_repetition", "frees per iteration", per_iteration(frees)),
        evidence_count("pool_calls", "of these from a pool (cuMemAllocAsync)", pool_calls),
        evidence_bytes("bytes", "bytes requested", bytes),
        evidence_ns("host_ns", "host time in these calls", ns),
        evidence_share("share_of_time", "share of the analysed time", share),
        evidence_count("repetitions", "iterations", context.loop.count)};
    finding.next_step =
        pool_calls == allocs + frees
            ? "allocate once before the loop and keep the memory, or capture the loop in a CUDA graph"
            : "allocate once before the loop and keep the memory, or take it from a pool "
              "(cudaMallocAsync; PyTorch's allocator does so unless its cache is emptied)";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinShare = 0.01;
};

}  // namespace

std::unique_ptr<FindingRule> make_allocations_rule() {
  return std::make_unique<Allocations>();
}

}  // namespace rangefinder
