// SPDX-License-Identifier: Apache-2.0
//
// Rule: the driver allocates or frees memory in every iteration.
//
// cuMemAlloc, cuMemFree and pinned allocations may wait for the whole GPU. Allocations from a pool
// (cuMemAllocAsync) cost only the call. The saving is the host time in all of these calls.
#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

class Allocations final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    if (!context.loop.found() || context.rest) return;
    std::uint64_t allocs = 0, frees = 0, pool_calls = 0, bytes = 0, ns = 0;
    for (const LoggedCall& call : context.log.calls()) {
      if (call.what == LoggedCall::What::sync || !context.loop.holds(call.start_ns)) continue;
      ++(call.what == LoggedCall::What::alloc ? allocs : frees);
      if (call.memory == AllocKind::async || call.memory == AllocKind::pool) ++pool_calls;
      bytes += call.bytes;
      ns += call.host_ns;
    }
    const auto per_iteration = [&context](std::uint64_t n) {
      return static_cast<double>(n) / static_cast<double>(context.loop.count);
    };
    const double share = static_cast<double>(ns) / static_cast<double>(context.span_ns);
    const bool pool = pool_calls == allocs + frees;
    if (allocs + frees < context.loop.count || share < (pool ? kMinShareOfPool : kMinShare)) return;
    Finding finding;
    finding.id = "allocations_in_loop";
    finding.effect = context.loop.path.empty() ? "Memory is allocated and freed in every iteration"
                                               : "allocates and frees memory in every iteration";
    finding.where = context.loop.path;
    finding.saving_ns = ns;
    finding.of_ns = ns;
    finding.why = context.each_text(ns) + " an iteration pass in calls that allocate or free, " +
                  three_digits(per_iteration(allocs)) + " and " + three_digits(per_iteration(frees)) +
                  " of them. ";
    finding.why +=
        pool ? "All of them use a pool, which costs the call alone."
             : "All but " + count_text(pool_calls) + " bypass a pool, so each may wait for the whole GPU.";
    finding.evidence = {
        evidence_number("allocs_per_repetition", "allocations per iteration", per_iteration(allocs)),
        evidence_number("frees_per_repetition", "frees per iteration", per_iteration(frees)),
        evidence_count("pool_calls", "of these from a pool (cuMemAllocAsync)", pool_calls),
        evidence_bytes("bytes", "bytes requested", bytes),
        evidence_ns("host_ns", "host time in these calls", ns),
        evidence_share("share_of_time", "share of the analysed time", share),
        evidence_count("repetitions", "iterations", context.loop.count)};
    finding.next_step =
        "allocate once before the loop and keep the memory, or take it from a pool (PyTorch does so unless "
        "its "
        "cache is emptied)";
    if (!pool) finding.code = "cudaMallocAsync(&memory, bytes, stream);";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinShare = 0.01;
  static constexpr double kMinShareOfPool = 0.10;  // such calls never wait for the GPU
};

}  // namespace

std::unique_ptr<FindingRule> make_allocations_rule() {
  return std::make_unique<Allocations>();
}

}  // namespace rangefinder
