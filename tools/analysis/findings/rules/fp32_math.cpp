// SPDX-License-Identifier: Apache-2.0
//
// Rule: matrix products run on the FP32 pipes instead of on tensor cores.
//
// Detected by the kernel's name (sgemm, simt). The saving compares the GPU's peaks for FP32 and TF32. It
// holds for a compute-bound product; a memory-bound one saves less.
#include <algorithm>

#include "tools/analysis/findings/kernel_kinds.h"
#include "tools/analysis/findings/rule.h"

namespace rangefinder {
namespace {

double peak_of(const GpuRecord& gpu, const std::string& type) {
  const auto at = std::find_if(gpu.peak_flops.begin(), gpu.peak_flops.end(),
                               [&type](const auto& peak) { return peak.first == type; });
  return at == gpu.peak_flops.end() ? 0 : at->second;
}

class Fp32Math final : public FindingRule {
 public:
  void find(const FindingContext& context, std::vector<Finding>& out) override {
    const GpuRecord* const gpu = context.gpu();
    const double fp32 = gpu == nullptr ? 0 : peak_of(*gpu, "fp32");
    const double tf32 = gpu == nullptr ? 0 : peak_of(*gpu, "tf32_tensor");
    if (fp32 <= 0 || tf32 <= fp32) return;  // no TF32 tensor cores, or peaks unknown
    std::uint64_t ns = 0, count = 0, heaviest_ns = 0;
    std::string heaviest;
    for (const KernelUse& use : context.kernels.uses()) {
      if (!is_fp32_product(context.kernel_name(use.name))) continue;
      ns += use.total_ns;
      count += use.count;
      if (use.total_ns <= heaviest_ns) continue;
      heaviest_ns = use.total_ns;
      heaviest = context.kernel_text(use.name);
    }
    const auto all_ns = static_cast<double>(std::max<std::uint64_t>(1, context.kernels.total_ns()));
    if (static_cast<double>(ns) < kMinOfTime * all_ns) return;
    Finding finding;
    finding.id = "fp32_math";
    finding.title = "Matrix products run in FP32 instead of on tensor cores";
    finding.where = heaviest;
    finding.saving_ns = static_cast<std::uint64_t>(static_cast<double>(ns) * (1 - fp32 / tf32));
    finding.severity = severity_of(*finding.saving_ns, context.span_ns);
    finding.evidence = {
        evidence_ns("gpu_ns", "GPU time of these kernels", ns),
        evidence_count("kernels", "kernels", count),
        evidence_share("share_of_gpu_time", "share of all kernel time", static_cast<double>(ns) / all_ns),
        evidence_number("fp32_peak_tflops", "FP32 peak in TFLOP/s", fp32 * 1e-12),
        evidence_number("tf32_peak_tflops", "TF32 peak in TFLOP/s", tf32 * 1e-12),
        evidence_text("basis", "the potential saving assumes a limit by", "arithmetic")};
    finding.next_step =
        "allow TF32 (PyTorch: torch.set_float32_matmul_precision(\"high\"), and "
        "torch.backends.cudnn.allow_tf32) or compute in FP16 or BF16; check the result against FP32";
    out.push_back(std::move(finding));
  }

 private:
  static constexpr double kMinOfTime = 0.02;
};

}  // namespace

std::unique_ptr<FindingRule> make_fp32_math_rule() {
  return std::make_unique<Fp32Math>();
}

}  // namespace rangefinder
