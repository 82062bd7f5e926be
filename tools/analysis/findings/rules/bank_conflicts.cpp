// SPDX-License-Identifier: Apache-2.0
//
// Rule: bank conflicts in shared memory, which serialise the threads of a warp.
//
// Each conflict costs one more cycle of a multiprocessor's shared memory (`--metrics memory`). Their time
// is conflicts per launch / (multiprocessors * highest clock). Reported from 10 % of the kernel's time on.
#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kMinOfKernel = 0.10;

class BankConflicts final : public KernelRule {
  bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) override {
    const GpuRecord* const gpu = context.gpu();
    if (gpu == nullptr || gpu->sm_count == 0 || gpu->sm_clock_khz == 0) return false;
    const MeasuredKernel& measured = context.kernels.measured(use.name);
    const auto loads = measured.mean("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
               stores = measured.mean("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum");
    if (!loads && !stores) return false;
    const double conflicts = loads.value_or(0) + stores.value_or(0);
    if (use.total_ns == 0 || context.of_gpu(use.total_ns) < kMinOfTime) return false;
    const double cycles_per_ns = static_cast<double>(gpu->sm_clock_khz) * 1e-6;
    const double conflict_ns = conflicts / gpu->sm_count / cycles_per_ns;
    const double kernel_ns = static_cast<double>(use.total_ns) / static_cast<double>(use.count);
    const double share = conflict_ns / kernel_ns;
    if (share < kMinOfKernel) return false;
    Finding finding;
    finding.id = "bank_conflicts";
    const auto [module, module_ns] = context.module_of(use);
    finding.where = module;
    finding.kernel = context.kernel_text(use.name);
    finding.effect = finding.where.empty()
                         ? "Bank conflicts serialise shared memory in `" + finding.kernel + "`"
                         : "serialises its access to shared memory by bank conflicts";
    finding.of_ns = context.of_analysed(module_ns);
    finding.saving_ns = static_cast<std::uint64_t>(std::min(1.0, share) * static_cast<double>(finding.of_ns));
    finding.why = "Conflicts take " + percent_text(share) + " of the time of `" + finding.kernel + "`, " +
                  count_text(static_cast<std::uint64_t>(conflicts)) +
                  " in each launch. Each costs one more cycle of a multiprocessor.";
    finding.evidence = {
        evidence_number("conflicts_per_launch", "bank conflicts per launch", conflicts),
        evidence_share("share_of_kernel", "conflict cycles per multiprocessor, as a share of the kernel time",
                       share),
        evidence_ns("mean_kernel_ns", "mean kernel time", static_cast<std::uint64_t>(kernel_ns)),
        evidence_ns("gpu_ns", "GPU time", use.total_ns), evidence_count("launches", "launches", use.count)};
    if (const auto each = measured.values.value("shared_conflicts_per_request")) {
      finding.evidence.push_back(
          evidence_number("conflicts_per_request", "bank conflicts per access", *each));
    }
    finding.next_step =
        "pad the rows of the tile by one word, or swizzle the columns, so that a column spans different "
        "banks";
    finding.code = "__shared__ float tile[32][33];";
    out.push_back(std::move(finding));
    return true;
  }

 private:
  static constexpr double kMinOfTime = 0.01;
};

}  // namespace

std::unique_ptr<FindingRule> make_bank_conflicts_rule() {
  return std::make_unique<BankConflicts>();
}

}  // namespace rangefinder
