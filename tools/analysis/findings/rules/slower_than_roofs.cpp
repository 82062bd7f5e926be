// SPDX-License-Identifier: Apache-2.0
//
// Rule: a module takes far longer than its bytes and operations explain.
//
//   roofs    DRAM bytes at the DRAM's peak
//            L2 bytes at the same rate: an L2 is at least as fast as the DRAM behind it
//            operations at the peak of their type (--metrics roofline)
//
// Reported below a quarter of every roof. Skips modules whose kernels are short, because a kernel of a few
// microseconds is all latency, and, where operations were not measured, modules of matrix products. Silent
// where kernels run beside each other, because they share the roofs.
#include <algorithm>
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/tables/kernel_kinds.h"

namespace rangefinder {
namespace {

constexpr double kMaxOfRoof = 0.25;
constexpr std::uint64_t kMinKernelNs = 10'000;

struct Slow {
  std::uint64_t gpu_ns = 0, dram = 0, l2 = 0, kernels = 0;
  double saved_ns = 0;
};

class SlowerThanRoofs final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    const auto peak = static_cast<double>(context.input.values.context().peaks.dram_bytes_per_s);
    if (peak <= 0 || context.concurrent) return;
    const std::unordered_map<std::uint32_t, std::uint64_t> products = products_by_path(context);
    std::map<std::string, Slow> modules;
    for (const PathTotals& row : context.rows) {
      const RowBytes bytes = context.input.values.bytes(row);
      const Derived derived = context.input.values.derived(row);
      const bool own = row.gpu_ns_exclusive * 2 >= row.gpu_ns && row.gpu_ns >= kMinKernelNs * row.kernels;
      if (!own || row.kernels == 0 || bytes.partial() || !derived.dram_peak_share || !derived.l2_bytes_per_s)
        continue;
      const auto of_products = products.find(row.path);
      const bool computes = of_products != products.end() && of_products->second * 2 > row.gpu_ns;
      if (computes && !derived.compute_peak_share) continue;
      const double roof = std::max(
          {*derived.dram_peak_share, *derived.l2_bytes_per_s / peak, derived.compute_peak_share.value_or(0)});
      if (roof > kMaxOfRoof) continue;
      Slow& slow = modules[numbers_folded(context.path_text(row.path))];
      slow.gpu_ns += row.gpu_ns;
      slow.kernels += row.kernels;
      slow.dram += bytes.dram();
      slow.l2 += bytes.l2;
      slow.saved_ns += static_cast<double>(row.gpu_ns) * (1 - roof);
    }
    for (const auto& [module, slow] : heaviest(modules, [](const Slow& one) { return one.saved_ns; }))
      report(context, module, slow, out);
  }

 private:
  static constexpr double kMinOfTime = 0.02;

  /// Time in kernels that compute much for the bytes they move.
  static std::unordered_map<std::uint32_t, std::uint64_t> products_by_path(const FindingContext& context) {
    std::unordered_map<std::uint32_t, bool> sorts;
    std::unordered_map<std::uint32_t, std::uint64_t> out;
    for (const KernelPlace& place : context.places) {
      const auto [sort, is_new] = sorts.try_emplace(place.use.name);
      if (is_new) sort->second = keeps_few_warps(context.kernel_name(place.use.name));
      if (sort->second) out[place.path] += place.use.total_ns;
    }
    return out;
  }

  static void report(const FindingContext& context, const std::string& module, const Slow& slow,
                     std::vector<Finding>& out) {
    if (context.of_gpu(slow.gpu_ns) < kMinOfTime) return;
    const double factor =
        static_cast<double>(slow.gpu_ns) / (static_cast<double>(slow.gpu_ns) - slow.saved_ns);
    Finding finding;
    finding.id = "slower_than_roofs";
    finding.where = module;
    finding.effect = "takes " + factor_text(factor) + " the time that its bytes and operations explain";
    finding.of_ns = context.of_analysed(slow.gpu_ns);
    finding.saving_ns = context.of_analysed(static_cast<std::uint64_t>(slow.saved_ns));
    finding.why = context.each_text(finding.of_ns) + context.per() +
                  " pass there, and at its highest roof it would be " +
                  context.each_text(finding.of_ns - std::min(finding.of_ns, *finding.saving_ns)) +
                  ". It moves " + bytes_text(slow.dram) + " through DRAM and " + bytes_text(slow.l2) +
                  " through the L2.";
    finding.evidence = {evidence_factor("slower", "time over that of the highest roof", factor),
                        evidence_bytes("dram_bytes", "DRAM bytes", slow.dram),
                        evidence_bytes("l2_bytes", "L2 bytes", slow.l2),
                        evidence_ns("gpu_ns", "GPU time", slow.gpu_ns),
                        evidence_count("kernels", "kernels", slow.kernels)};
    finding.next_step = "measure what its kernels wait for: access patterns, occupancy, divergence, atomics";
    finding.code = "rangefinder run --counters exact --metrics memory -- PROGRAM";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_slower_than_roofs_rule() {
  return std::make_unique<SlowerThanRoofs>();
}

}  // namespace rangefinder
