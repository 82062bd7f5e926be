// SPDX-License-Identifier: Apache-2.0
//
// Rule: a kernel uses local memory, for spilled registers or for arrays indexed at run time.
//
// Uses the launch configuration, and the local-memory sectors (`--metrics memory`) if they were measured.
// Skips a kernel that reserves local memory and never touches it.
#include <algorithm>

#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr double kSectorBytes = 32;
constexpr std::uint32_t kMaxRegisters = 255;  // per thread

class Spills final : public KernelRule {
  bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) override {
    const LaunchConfigRecord* const config = context.kernels.config(use.config);
    const auto all_ns = static_cast<double>(std::max<std::uint64_t>(1, context.kernels.total_ns()));
    if (config == nullptr || config->local_bytes_per_thread == 0) return false;
    if (static_cast<double>(use.total_ns) < kMinOfTime * all_ns) return false;
    const auto sectors = context.kernels.metric_sum(
        use.name,
        {"l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"});
    if (sectors && *sectors == 0) return false;
    const bool full = config->registers >= kMaxRegisters;
    Finding finding;
    finding.id = "local_memory";
    finding.where = context.kernel_text(use.name);
    finding.title = full ? "Registers are spilled to local memory in " + finding.where
                         : "Threads keep values in local memory in " + finding.where;
    finding.severity = sectors ? Severity::notable : Severity::info;
    finding.evidence = {
        evidence_bytes("local_bytes_per_thread", "local memory per thread", config->local_bytes_per_thread),
        evidence_count("registers", "registers per thread", config->registers),
        evidence_ns("gpu_ns", "GPU time", use.total_ns),
        evidence_share("share_of_gpu_time", "share of all kernel time",
                       static_cast<double>(use.total_ns) / all_ns),
        evidence_count("launches", "launches", use.count)};
    if (sectors) {
      finding.evidence.push_back(evidence_bytes("local_traffic_bytes", "local memory traffic per launch",
                                                static_cast<std::uint64_t>(*sectors * kSectorBytes)));
    }
    finding.next_step =
        sectors ? "raise the register limit (__launch_bounds__, -maxrregcount), make tiles smaller, and "
                  "index arrays with constants (unroll the loops)"
                : "measure the local memory traffic (--counters exact --metrics memory); -Xptxas -v "
                  "distinguishes spills from arrays";
    out.push_back(std::move(finding));
    return true;
  }

 private:
  static constexpr double kMinOfTime = 0.02;
};

}  // namespace

std::unique_ptr<FindingRule> make_spills_rule() {
  return std::make_unique<Spills>();
}

}  // namespace rangefinder
