// SPDX-License-Identifier: Apache-2.0
//
// Rule: bank conflicts in shared memory, which serialise the threads of a warp.
//
// Each conflict costs one more cycle of a multiprocessor's shared memory (`--metrics coalescing`). Their time
// is conflicts per launch / (multiprocessors * highest clock). Reported from 10 % of the kernel's time on.
#include <algorithm>

#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kMinOfKernel = 0.10;

class BankConflicts final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    const GpuRecord* const gpu = context.gpu();
    if (gpu == nullptr || gpu->sm_count == 0 || gpu->sm_clock_khz == 0) return;
    for (const KernelTotals& kernel : context.input.trace.selected().kernels())
      find(context, *gpu, kernel, out);
  }

 private:
  static constexpr double kMinOfTime = 0.01;
  static void find(const FindingContext& context, const GpuRecord& gpu, const KernelTotals& kernel,
                   std::vector<Finding>& out) {
    const auto conflicts =
        context.kernels.metric_sum(kernel.name, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                                 "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"});
    const auto all_ns = static_cast<double>(std::max<std::uint64_t>(1, context.kernels.total_ns()));
    if (!conflicts || kernel.timed == 0 || static_cast<double>(kernel.total_ns) < kMinOfTime * all_ns) return;
    const double cycles_per_ns = static_cast<double>(gpu.sm_clock_khz) * 1e-6;
    const double conflict_ns = *conflicts / gpu.sm_count / cycles_per_ns;
    const double kernel_ns = static_cast<double>(kernel.total_ns) / static_cast<double>(kernel.timed);
    const double share = conflict_ns / kernel_ns;
    if (share < kMinOfKernel) return;
    Finding finding;
    finding.id = "bank_conflicts";
    finding.where = context.kernel_text(kernel.name);
    finding.title = "Shared-memory bank conflicts in " + finding.where;
    finding.saving_ns =
        static_cast<std::uint64_t>(std::min(1.0, share) * static_cast<double>(kernel.total_ns));
    finding.severity = severity_of(*finding.saving_ns, context.span_ns);
    finding.evidence = {
        evidence_number("conflicts_per_launch", "bank conflicts per launch", *conflicts),
        evidence_share("share_of_kernel", "conflict cycles per multiprocessor, as a share of the kernel time",
                       share),
        evidence_ns("mean_kernel_ns", "mean kernel time", static_cast<std::uint64_t>(kernel_ns)),
        evidence_ns("gpu_ns", "GPU time", kernel.total_ns),
        evidence_count("launches", "launches", kernel.count)};
    finding.next_step =
        "pad the rows of the tile by one word, or swizzle the columns, so that a column spans different "
        "banks";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_bank_conflicts_rule() {
  return std::make_unique<BankConflicts>();
}

}  // namespace rangefinder
