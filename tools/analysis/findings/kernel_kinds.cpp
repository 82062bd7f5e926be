// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/findings/kernel_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace rangefinder {
namespace {

/// The function's own name, lower case. Template arguments show types and sizes, not what the kernel does.
std::string own_name(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '<') ++depth;
    const bool parameters = c == '(' && depth == 0 && !name.substr(i).starts_with("(anonymous namespace)");
    if (parameters) break;
    if (depth == 0) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == '>' && depth > 0) --depth;
  }
  return out;
}

template <std::size_t N>
bool has_any(std::string_view name, const std::array<std::string_view, N>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [name](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

constexpr std::array<std::string_view, 5> kAttention{"flash", "fmha", "sdpa", "attention_kernel", "attn_fwd"};
constexpr std::array<std::string_view, 1> kSoftmax{"softmax"};
constexpr std::array<std::string_view, 6> kElementwise{"elementwise_kernel", "pointwise", "triton_poi_",
                                                       "elementwise",        "bias_relu", "bias_act"};
constexpr std::array<std::string_view, 3> kNotElementwise{"scatter_gather", "index_elementwise", "reduce"};
constexpr std::array<std::string_view, 6> kProduct{
    "gemm", "nvjet", "cutlass", "matmul", "attention_scores", "attention_sum"};
constexpr std::array<std::string_view, 3> kConvolution{"fprop", "conv", "wgrad"};

}  // namespace

KernelSort kernel_sort(std::string_view name) {
  const std::string own = own_name(name);
  if (has_any(own, kSoftmax)) return KernelSort::softmax;
  if (has_any(own, kElementwise) && !has_any(own, kNotElementwise)) return KernelSort::elementwise;
  if (has_any(own, kAttention)) return KernelSort::attention;
  // cutlass::Kernel2<cutlass_80_wmma_tensorop_…gemm…>: here the template argument names the kernel.
  const bool wrapped = own.find("cutlass") != std::string::npos;
  const std::string_view whole = wrapped ? name : std::string_view(own);
  if (has_any(own, kProduct) && !has_any(whole, kConvolution)) return KernelSort::matrix_product;
  return KernelSort::other;
}

bool keeps_few_warps(std::string_view name) {
  const KernelSort sort = kernel_sort(name);
  constexpr std::array<std::string_view, 4> kTiled{"gemm", "fprop", "conv", "xmma"};
  return sort == KernelSort::matrix_product || sort == KernelSort::attention ||
         has_any(own_name(name), kTiled);
}

bool is_fp32_product(std::string_view name) {
  constexpr std::array<std::string_view, 5> kSimt{"sgemm", "_simt_", "gemm_simt", "SimtEngine", "ffma"};
  constexpr std::array<std::string_view, 4> kTensor{"tensorop", "tf32", "hmma", "wgmma"};
  return has_any(name, kSimt) && !has_any(name, kTensor);
}

}  // namespace rangefinder
