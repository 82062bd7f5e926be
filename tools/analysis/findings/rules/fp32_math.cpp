// SPDX-License-Identifier: Apache-2.0
//
// Rule: matrix products run on the FP32 pipes instead of on tensor cores.
//
// Detected by the kernel's name (sgemm, simt), and where they were measured (`--metrics pipes`) by the pipes:
// a product, convolution or attention with idle tensor cores and a busy FMA pipe. The saving compares the
// GPU's peaks for FP32 and TF32. It holds for a compute-bound product; a memory-bound one saves less: where
// DRAM bytes were measured, their time at the DRAM's peak stays. L1 and L2 traffic depends on the tiles.
#include <algorithm>
#include <map>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/rule.h"
#include "tools/analysis/tables/kernel_kinds.h"

namespace rangefinder {
namespace {

double peak_of(const GpuRecord& gpu, const std::string& type) {
  const auto at = std::find_if(gpu.peak_flops.begin(), gpu.peak_flops.end(),
                               [&type](const auto& peak) { return peak.first == type; });
  return at == gpu.peak_flops.end() ? 0 : at->second;
}

// Percent of the cycles. Tensor cores that work in fewer do not carry the product; 30 % of the FMA pipe is
// more than addresses and the softmax of a product on tensor cores take.
constexpr double kIdleTensor = 5, kBusyFma = 30;

/// Measured pipes say more than the name.
bool runs_in_fp32(const std::string& name, const NamedValues& measured) {
  const auto tensor = measured.value("tensor_pipe"), fma = measured.value("fp32_pipe");
  if (!tensor || !fma) return is_fp32_product(name);
  if (*tensor >= kIdleTensor) return false;
  return is_fp32_product(name) || (keeps_few_warps(name) && *fma >= kBusyFma);
}

struct Products {
  std::uint64_t ns = 0, count = 0, heaviest_ns = 0;
  std::uint32_t heaviest = 0;
  double saved_ns = 0;
};

class Fp32Math final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    const GpuRecord* const gpu = context.gpu();
    const double fp32 = gpu == nullptr ? 0 : peak_of(*gpu, "fp32");
    const double tf32 = gpu == nullptr ? 0 : peak_of(*gpu, "tf32_tensor");
    if (fp32 <= 0 || tf32 <= fp32) return;  // no TF32 tensor cores, or peaks unknown
    std::map<std::string, Products> modules;
    for (const KernelPlace& place : context.places) {
      const std::uint32_t name = place.use.name;
      const MeasuredKernel& measured = context.kernels.measured(name);
      if (!runs_in_fp32(context.kernel_name(name), measured.values)) continue;
      Products& products = modules[place.path == 0 ? "" : numbers_folded(context.path_text(place.path))];
      products.ns += place.use.total_ns;
      products.count += place.use.count;
      const double stays = std::clamp(measured.dram_share().value_or(0), fp32 / tf32, 1.0);
      // A product that keeps the GPU's pipes busy for 10 % of the time has no more than these to save.
      const double arithmetic = measured.values.value("compute_throughput").value_or(100) / 100;
      products.saved_ns +=
          static_cast<double>(place.use.total_ns) * std::min(1 - stays, arithmetic * (1 - fp32 / tf32));
      if (place.use.total_ns <= products.heaviest_ns) continue;
      products.heaviest_ns = place.use.total_ns;
      products.heaviest = place.use.name;
    }
    for (const auto& [module, products] : heaviest(modules, [](const Products& one) { return one.ns; }))
      report(context, module, products, {fp32, tf32}, out);
  }

 private:
  static constexpr double kMinOfTime = 0.02;
  static void report(const FindingContext& context, const std::string& module, const Products& products,
                     std::pair<double, double> peaks, std::vector<Finding>& out) {
    const auto [fp32, tf32] = peaks;
    const double of_time = context.of_gpu(products.ns);
    if (of_time < kMinOfTime || context.of_gpu(static_cast<std::uint64_t>(products.saved_ns)) < kMinOfTime)
      return;
    Finding finding;
    finding.id = "fp32_math";
    finding.where = module;
    finding.kernel = context.kernel_text(products.heaviest);
    finding.effect = finding.where.empty() ? "Matrix products run in FP32 instead of on tensor cores"
                                           : "computes matrix products in FP32 instead of on tensor cores";
    finding.of_ns = context.of_analysed(products.ns);
    finding.saving_ns = context.of_analysed(static_cast<std::uint64_t>(products.saved_ns));
    finding.why = "Tensor cores compute " + factor_text(tf32 / fp32) + " as fast in TF32, and " +
                  percent_text(of_time) + " of the GPU time is in these products. The saving assumes that " +
                  "arithmetic limits them; a memory-bound product saves less.";
    finding.evidence = {evidence_ns("gpu_ns", "GPU time of these kernels", products.ns),
                        evidence_count("kernels", "kernels", products.count),
                        evidence_share("share_of_gpu_time", "share of all kernel time", of_time),
                        evidence_number("fp32_peak_tflops", "FP32 peak in TFLOP/s", fp32 * 1e-12),
                        evidence_number("tf32_peak_tflops", "TF32 peak in TFLOP/s", tf32 * 1e-12),
                        evidence_text("basis", "the potential saving assumes a limit by", "arithmetic")};
    const MeasuredKernel& measured = context.kernels.measured(products.heaviest);
    if (const auto dram = measured.dram_share())
      finding.evidence.push_back(evidence_share("dram_peak_share", "share of the DRAM peak", *dram));
    add_measured(finding, measured.values,
                 {"tensor_pipe", "fp32_pipe", "compute_throughput", "memory_throughput"});
    finding.next_step = "allow TF32, or compute in FP16 or BF16, and check the result against FP32";
    finding.code = "torch.set_float32_matmul_precision(\"high\")";
    out.push_back(std::move(finding));
  }
};

}  // namespace

std::unique_ptr<FindingRule> make_fp32_math_rule() {
  return std::make_unique<Fp32Math>();
}

}  // namespace rangefinder
