// SPDX-License-Identifier: Apache-2.0
//
// Rule: the warps of a kernel wait for one reason most of the time (`--metrics stalls`).
//
// A stall matters only where no unit is busy: with compute or memory at 60 % of a peak or more, warps wait
// for that unit, and the kernel is as fast as it allows. Reported from 30 % of the warps' time on: a fix that
// halves the stall then returns 15 % of it. Not reported for grids under half a wave: their latency comes
// from the size of the problem (grid_under_one_wave). The reasons and their fixes: stall_cures.h.
#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/findings/stall_cures.h"

namespace rangefinder {
namespace {

constexpr double kMinStall = 30;  // percent of the time of all resident warps

/// The most frequent reason that a fix exists for.
const NamedValue* top_of(const std::vector<NamedValue>& stalls) {
  const auto at = std::find_if(stalls.begin(), stalls.end(), [](const NamedValue& stall) {
    return find_stall_cure(stall.metric->name) != nullptr;
  });
  return at == stalls.end() ? nullptr : &*at;
}

class Stalls final : public KernelRule {
 public:
  Stalls() : KernelRule(Per::name) {}

 private:
  bool find_in(const KernelUse& use, const FindingContext& context, std::vector<Finding>& out) override {
    const MeasuredKernel& measured = context.kernels.measured(use.name);
    const std::vector<NamedValue> stalls = measured.values.stalls();
    const NamedValue* const top = top_of(stalls);
    if (top == nullptr || top->value < kMinStall || context.of_gpu(use.total_ns) < kMinOfTime) return false;
    if (measured.memory_share().value_or(0) >= kRoofShare ||
        measured.compute_share().value_or(0) >= kRoofShare)
      return false;
    if (context.under_half_a_wave(use)) return false;
    report(use, context, measured, *top, out);
    return true;
  }

  static void report(const KernelUse& use, const FindingContext& context, const MeasuredKernel& measured,
                     const NamedValue& top, std::vector<Finding>& out) {
    const StallCure& cure = *find_stall_cure(top.metric->name);
    Finding finding;
    finding.id = "stalls";
    const auto [module, module_ns] = context.module_of(use);
    finding.where = module;
    finding.kernel = context.kernel_text(use.name);
    const std::string share = percent_text(top.value / 100);
    finding.effect = (finding.where.empty() ? "`" + finding.kernel + "` " : "") + "waits " + cure.waits +
                     " in " + share + " of its warps' time";
    finding.of_ns = context.of_analysed(module_ns);
    finding.why = top.metric->title + std::string(" is the state of the warps of `") + finding.kernel +
                  "` in " + share + " of their time. " + limits_text(measured);
    finding.evidence = {
        evidence_text("stall", "most frequent reason", top.metric->title),
        evidence_share("stall_share", "its share of the warps' time", top.value / 100),
        evidence_ns("gpu_ns", "GPU time", use.total_ns),
        evidence_share("share_of_gpu_time", "share of all kernel time", context.of_gpu(use.total_ns))};
    add_measured(finding, measured.values,
                 {"compute_throughput", "memory_throughput", "issue_slots", "achieved_occupancy"});
    finding.next_step = cure.cure;
    finding.code = cure.code;
    out.push_back(std::move(finding));
  }

  static std::string limits_text(const MeasuredKernel& measured) {
    const auto compute = measured.compute_share(), memory = measured.memory_share();
    if (!compute || !memory)
      return "Whether a unit limits it was not measured: add --metrics speed-of-light.";
    return "Compute reaches " + percent_text(*compute) + " and memory " + percent_text(*memory) +
           " of a peak, so neither limits it.";
  }

  static constexpr double kMinOfTime = 0.02;
};

}  // namespace

std::unique_ptr<FindingRule> make_stalls_rule() {
  return std::make_unique<Stalls>();
}

}  // namespace rangefinder
