// SPDX-License-Identifier: Apache-2.0
//
// Rule: a product, convolution or attention on tensor cores hardly uses them (`--metrics pipes`).
//
// Says what holds it, as far as that was measured: a unit at 60 % of its peak or more (speed-of-light), else
// what its warps wait for (stalls). Below 20 % of the tensor cores' cycles something else takes most of the
// time. There is no saving: how much of it a fix returns depends on what holds the kernel. Grids under half a
// wave are grid_under_one_wave's; products that do not use tensor cores are fp32_math's.
#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/findings/stall_cures.h"
#include "tools/analysis/tables/kernel_kinds.h"

namespace rangefinder {
namespace {

constexpr double kMaxTensor = 20;  // percent of the tensor cores' cycles
constexpr double kUsesTensor = 1;  // percent: a kernel whose name does not say that it uses them

struct Holder {
  std::string why, next_step, code;
};

Holder by_unit(const NamedValue& throughput, bool memory) {
  Holder out;
  out.why = std::string(throughput.part == nullptr ? throughput.metric->title : throughput.part->title) +
            " holds it, at " + percent_text(throughput.value / 100) + " of its peak.";
  out.next_step = memory
                      ? "move fewer bytes for each product: larger tiles, a larger batch, narrower types, or "
                        "fuse it with its neighbours"
                      : "take work out of the main loop of the product: conversions, exponentials, "
                        "computations of addresses";
  return out;
}

Holder holder_of(const MeasuredKernel& measured) {
  for (const char* const name : {"memory_throughput", "compute_throughput"}) {
    const NamedValue* const throughput = measured.values.find(name);
    if (throughput != nullptr && throughput->value >= 100 * kRoofShare)
      return by_unit(*throughput, name == std::string_view("memory_throughput"));
  }
  for (const NamedValue& stall : measured.values.stalls()) {
    const StallCure* const cure = find_stall_cure(stall.metric->name);
    if (cure == nullptr) continue;
    return {"Its warps wait " + std::string(cure->waits) + " in " + percent_text(stall.value / 100) +
                " of their time (" + stall.metric->title + "), more than for anything else.",
            cure->cure, cure->code};
  }
  return {"What holds it was not measured.", "measure which unit is busy, and what its warps wait for",
          "rangefinder run --counters exact --metrics speed-of-light,stalls -- PROGRAM"};
}

class LowTensorUse final : public KernelRule {
 public:
  LowTensorUse() : KernelRule(Per::name) {}

 private:
  bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) override {
    const MeasuredKernel& measured = context.kernels.measured(use.name);
    const auto tensor = measured.values.value("tensor_pipe");
    if (!tensor || *tensor >= kMaxTensor || context.of_gpu(use.total_ns) < kMinOfTime) return false;
    const std::string& name = context.kernel_name(use.name);
    const bool named = product_unit(name).starts_with("tensor");
    if (!named && (*tensor < kUsesTensor || !keeps_few_warps(name))) return false;
    if (context.under_half_a_wave(use)) return false;
    const Holder holder = holder_of(measured);
    Finding finding;
    finding.id = "low_tensor_use";
    const auto [module, module_ns] = context.module_of(use);
    finding.where = module;
    finding.kernel = context.kernel_text(use.name);
    finding.effect = (finding.where.empty() ? "`" + finding.kernel + "` " : "") +
                     "uses its tensor cores in " + percent_text(*tensor / 100) + " of the cycles";
    finding.of_ns = context.of_analysed(module_ns);
    finding.why = "`" + finding.kernel + "` takes " + context.each_text(finding.of_ns) + context.per() +
                  ", and its tensor cores work in " + percent_text(*tensor / 100) + " of the cycles. " +
                  holder.why;
    finding.evidence = {
        evidence_ns("gpu_ns", "GPU time", use.total_ns),
        evidence_share("share_of_gpu_time", "share of all kernel time", context.of_gpu(use.total_ns))};
    add_measured(
        finding, measured.values,
        {"tensor_pipe", "fp32_pipe", "compute_throughput", "memory_throughput", "achieved_occupancy"});
    finding.next_step = holder.next_step;
    finding.code = holder.code;
    out.push_back(std::move(finding));
    return true;
  }

  static constexpr double kMinOfTime = 0.05;
};

}  // namespace

std::unique_ptr<FindingRule> make_low_tensor_use_rule() {
  return std::make_unique<LowTensorUse>();
}

}  // namespace rangefinder
