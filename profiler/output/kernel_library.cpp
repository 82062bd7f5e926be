// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/kernel_library.h"

#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "profiler/base/communication_kernel.h"

namespace rangefinder {
namespace {

enum class Match { starts, contains };

struct Pattern {
  Match match;
  std::string_view text;
  std::string_view from_library;
};

// First match wins, so specific patterns come before general ones: cuDNN's fused attention is built
// from CUTLASS; PyTorch instantiates CUTLASS and CUB templates under its own names.
constexpr std::array kPatterns{
    Pattern{Match::contains, "cudnn", "cuDNN"},
    Pattern{Match::contains, "implicit_convolve", "cuDNN"},
    Pattern{Match::contains, "xmma_fprop", "cuDNN"},
    Pattern{Match::contains, "xmma_dgrad", "cuDNN"},
    Pattern{Match::contains, "xmma_wgrad", "cuDNN"},
    Pattern{Match::contains, "convolve_common_engine", "cuDNN"},
    Pattern{Match::contains, "winograd", "cuDNN"},
    Pattern{Match::starts, "nvjet_", "cuBLAS"},
    Pattern{Match::contains, "cublas", "cuBLAS"},
    Pattern{Match::contains, "xmma_gemm", "cuBLAS"},
    Pattern{Match::contains, "gemvNSP", "cuBLAS"},
    Pattern{Match::contains, "gemv2T", "cuBLAS"},
    Pattern{Match::contains, "gemv2N", "cuBLAS"},
    Pattern{Match::contains, "splitKreduce", "cuBLAS"},
    Pattern{Match::starts, "volta_", "cuBLAS"},
    Pattern{Match::starts, "turing_", "cuBLAS"},
    Pattern{Match::starts, "ampere_", "cuBLAS"},
    Pattern{Match::contains, "cufft", "cuFFT"},
    Pattern{Match::contains, "cusparse", "cuSPARSE"},
    Pattern{Match::contains, "cusolver", "cuSOLVER"},
    Pattern{Match::contains, "curand", "cuRAND"},
    Pattern{Match::contains, "pytorch_flash", "PyTorch"},
    Pattern{Match::contains, "fmha_cutlass", "CUTLASS"},
    Pattern{Match::contains, "at::native", "PyTorch"},
    Pattern{Match::contains, "at_cuda_detail", "PyTorch"},
    Pattern{Match::contains, "c10::", "PyTorch"},
    Pattern{Match::contains, "torch::", "PyTorch"},
    Pattern{Match::starts, "cutlass_", "CUTLASS"},
    Pattern{Match::contains, "cutlass::", "CUTLASS"},
    Pattern{Match::contains, "cute::", "CUTLASS"},
    Pattern{Match::contains, "flash_fwd", "FlashAttention"},
    Pattern{Match::contains, "flash_bwd", "FlashAttention"},
    Pattern{Match::starts, "thrust::", "Thrust"},  // thrust::cuda_cub:: holds "cub::"
    Pattern{Match::contains, "cub::", "CUB"},
    Pattern{Match::contains, "thrust::", "Thrust"},
};

/// Triton appends a signature to the function's name: `add_kernel_0d1d2d3de` (digits, then d, c or e).
bool has_triton_signature(std::string_view name) {
  const std::size_t at = name.rfind('_');
  if (at == std::string_view::npos || name.size() - at < 4) return false;
  int specialised = 0;
  bool digit = false;
  for (const char c : name.substr(at + 1)) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digit = true;
    } else if ((c == 'd' || c == 'c' || c == 'e') && digit) {
      ++specialised;
    } else {
      return false;
    }
  }
  return specialised >= 2;
}

/// "void ns::kernel<…>(…)" ─▶ "ns::kernel<…>(…)": the name of a template begins with its return type.
std::string_view without_return_type(std::string_view demangled) {
  return demangled.starts_with("void ") ? demangled.substr(5) : demangled;
}

}  // namespace

KernelOrigin kernel_origin(std::string_view mangled, std::string_view demangled) {
  const std::string_view name = without_return_type(demangled);
  // Inductor's name has the operators: triton_poi_fused__scaled_dot_product_cudnn_attention_add_3.
  constexpr std::string_view kInductor = "triton_";
  if (name.starts_with(kInductor)) return {"Triton", "name starts with " + std::string(kInductor)};
  if (std::optional<CommunicationKernel> found = communication_kernel(demangled))
    return {found->from_library, std::move(found->evidence)};
  for (const Pattern& pattern : kPatterns) {
    const bool starts = pattern.match == Match::starts;
    if (starts ? name.starts_with(pattern.text) : name.find(pattern.text) != std::string_view::npos) {
      return {pattern.from_library,
              std::string(starts ? "name starts with " : "name contains ") + std::string(pattern.text)};
    }
  }
  if (has_triton_signature(mangled)) return {"Triton", "name ends in a Triton signature"};
  return {"own", "no known pattern"};
}

}  // namespace rangefinder
