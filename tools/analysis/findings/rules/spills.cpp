// SPDX-License-Identifier: Apache-2.0
//
// Rule: a kernel uses local memory, for spilled registers or for arrays indexed at run time.
//
// Uses the launch configuration, and the bytes of local memory (`--metrics memory`) if they were measured.
// Skips a kernel that reserves local memory and never touches it.
#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

constexpr std::uint32_t kMaxRegisters = 255;  // per thread

class Spills final : public KernelRule {
  bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) override {
    const LaunchConfigRecord* const config = context.kernels.config(use.config);
    if (config == nullptr || config->local_bytes_per_thread == 0) return false;
    if (context.of_gpu(use.total_ns) < kMinOfTime) return false;
    const auto moved = context.kernels.measured(use.name).per_launch("local_bytes");
    if (moved && *moved == 0) return false;
    const bool full = config->registers >= kMaxRegisters;
    Finding finding;
    finding.id = "local_memory";
    const auto [module, module_ns] = context.module_of(use);
    finding.where = module;
    finding.kernel = context.kernel_text(use.name);
    const std::string bytes = bytes_text(config->local_bytes_per_thread) + " a thread in local memory";
    finding.effect = finding.where.empty()
                         ? "`" + finding.kernel + "` keeps " + bytes
                         : (full ? "spills registers: it keeps " + bytes : "keeps " + bytes);
    finding.of_ns = context.of_analysed(module_ns);
    finding.why = "`" + finding.kernel + "` has " + count_text(config->registers) +
                  " registers a thread, and " + bytes + ". ";
    finding.why +=
        moved ? "A launch moves " + bytes_text(static_cast<std::uint64_t>(*moved)) + " of it through the L1."
              : "Whether it uses them was not measured.";
    finding.evidence = {
        evidence_bytes("local_bytes_per_thread", "local memory per thread", config->local_bytes_per_thread),
        evidence_count("registers", "registers per thread", config->registers),
        evidence_ns("gpu_ns", "GPU time", use.total_ns),
        evidence_share("share_of_gpu_time", "share of all kernel time", context.of_gpu(use.total_ns)),
        evidence_count("launches", "launches", use.count)};
    if (moved) {
      finding.evidence.push_back(evidence_bytes("local_traffic_bytes", "local memory traffic per launch",
                                                static_cast<std::uint64_t>(*moved)));
    }
    finding.next_step = moved
                            ? "raise the register limit, make tiles smaller, and index arrays with constants "
                              "(unroll the loops)"
                            : "measure the local memory traffic; -Xptxas -v distinguishes spills from arrays";
    finding.code = moved ? "__global__ void __launch_bounds__(128) kernel(…)"
                         : "rangefinder run --counters exact --metrics memory -- PROGRAM";
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
