// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/kernel_kinds.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "profiler/base/communication_kernel.h"

namespace rangefinder {
namespace {

/// In lower case. Template arguments show types and sizes, not what the kernel does.
std::string own_name(std::string_view name) {
  std::string out = qualified_name(name);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
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

// Products on tensor cores: CUTLASS, cuBLAS' names by the shape of the instruction, cuDNN, this repository.
constexpr std::array<std::string_view, 13> kTensorProduct{
    "tensorop", "s884gemm", "h884gemm", "s1688gemm", "h1688gemm",   "s16816gemm",     "h16816gemm",
    "_wgmma_",  "_wmma_",   "_hmma_",   "MmaEngine", "WgmmaEngine", "attention_mma::"};
constexpr std::array<std::string_view, 2> kXmmaTensor{"_tensor", "_warpgroupsize"};
constexpr std::array<std::string_view, 2> kTf32{"tf32", "Tf32"};
constexpr std::array<std::string_view, 2> kBf16{"bf16", "bfloat16"};
constexpr std::array<std::string_view, 2> kFp8{"e4m3", "e5m2"};
constexpr std::array<std::string_view, 6> kFp16{"f16", "fp16", "half", "h16816", "h1688", "h884"};

/// The letters for the types of nvjet_sm90_hsh_64x64…, which is cuBLAS' family for tensor cores: of inputs,
/// accumulator, output. "": the name is another one.
std::string_view nvjet_types(std::string_view name) {
  constexpr std::string_view kFamily = "nvjet_";
  const std::size_t at = name.find(kFamily);
  if (at == std::string_view::npos) return {};
  name.remove_prefix(at + kFamily.size());
  if (name.starts_with("sm")) name.remove_prefix(std::min(name.find('_') + 1, name.size()));
  return name.substr(0, name.find('_'));
}

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

std::string_view product_unit(std::string_view name) {
  if (is_fp32_product(name)) return "FP32";
  if (const std::string_view types = nvjet_types(name); !types.empty()) {
    if (types.front() == 'h') return "tensor fp16";
    return types.front() == 't' ? "tensor bf16" : "";
  }
  const bool xmma = name.find("xmma_") != std::string_view::npos;
  if (!has_any(name, kTensorProduct) && !(xmma && has_any(name, kXmmaTensor))) return "";
  // The inputs' type: of f32f32_tf32f32 the second part. "bf16" contains "f16".
  if (has_any(name, kTf32)) return "tensor tf32";
  if (has_any(name, kBf16)) return "tensor bf16";
  if (has_any(name, kFp8)) return "tensor fp8";
  return has_any(name, kFp16) ? "tensor fp16" : "tensor";
}

}  // namespace rangefinder
