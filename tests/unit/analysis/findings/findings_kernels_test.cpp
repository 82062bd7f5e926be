// SPDX-License-Identifier: Apache-2.0
//
// Rules about kernels, their launches and their order. The traces are synthetic; the kernel names are those
// of PyTorch, cuBLAS and this repository.
#include "profiler/base/iteration_names.h"
#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/queries/kernel_kinds.h"

namespace rangefinder {
namespace {
using namespace test;

constexpr TimeNs kUs = 1'000;
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, "
    "3> "
    ">(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3>)";
constexpr const char* kGelu =
    "void at::native::vectorized_elementwise_kernel<4, "
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, "
    "at::native::GeluType)::{lambda()#2}, std::array<char*, 2> >(int, std::array<char*, 2>)";
constexpr const char* kTensorGemm =
    "void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x128_16x5_nn_align4>(Params)";
constexpr const char* kSoftmax =
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 9, false, false>(float*, float "
    "const*, "
    "int, int, int, bool const*, int, bool)";
constexpr const char* kFlash =
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4> >(Flash_fwd_params)";

/// Consecutive kernels in one path; kernel i has grid i modulo the number of `grids`.
struct InOrder : MadeTrace {
  InOrder(const std::vector<const char*>& kernels, const std::vector<LaunchConfigRecord>& grids,
          TimeNs length = 100 * kUs, int times = 10) {
    add_path("layer");
    std::vector<std::uint32_t> name_ids, config_ids;
    for (const char* const kernel : kernels) name_ids.push_back(add_name(kernel));
    for (const LaunchConfigRecord& grid : grids) config_ids.push_back(add_config(grid));
    TimeNs now = 1'000'000;
    for (int time = 0; time < times; ++time) {
      for (std::size_t i = 0; i < name_ids.size(); ++i) {
        now = add(1, name_ids[i], config_ids[i % config_ids.size()], now + kUs, length);
      }
    }
  }
};

TEST_CASE("elementwise kernels of the same size in a row are a chain") {
  const Finding chain =
      required(InOrder({kTensorGemm, kAdd, kGelu, kAdd}, {grid_of(4096, 256)}).found(), "unfused_chain");

  check_evidence(chain, {{"chains", 9}});       // those of the nine periods
  CHECK(*chain.saving_ns == 8 * 2 * 100'000u);  // of nine periods the first warms up
}

TEST_CASE("elementwise kernels of very different sizes are no chain") {
  CHECK(find(InOrder({kTensorGemm, kAdd, kGelu}, {grid_of(64, 128), grid_of(4, 128), grid_of(4096, 128)})
                 .found(),
             "unfused_chain") == nullptr);
}

TEST_CASE("an elementwise kernel between products is no chain") {
  CHECK(find(InOrder({kTensorGemm, kAdd}, {grid_of(4096, 256)}).found(), "unfused_chain") == nullptr);
}

TEST_CASE("a softmax without a following product, as in a classifier, is no attention") {
  CHECK(find(InOrder({kTensorGemm, kSoftmax, kAdd, kAdd, kAdd, kAdd, kAdd}, {grid_of(4096, 256)}).found(),
             "attention_scores") == nullptr);
}

TEST_CASE("kernels are classified by their names") {
  CHECK(kernel_sort(kAdd) == KernelSort::elementwise);
  CHECK(kernel_sort(kSoftmax) == KernelSort::softmax);
  CHECK(kernel_sort(kFlash) == KernelSort::attention);
  CHECK(kernel_sort("ampere_sgemm_128x64_nn") == KernelSort::matrix_product);
  CHECK(kernel_sort("nvjet_sm90_hsh_64x64_64x13_2x4_h_bz_NNT") == KernelSort::matrix_product);
  CHECK(kernel_sort("void cudnn::engines_precompiled::nchwToNhwcKernel<__half>(int)") == KernelSort::other);
  CHECK(kernel_sort("sm90_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc") == KernelSort::other);
  CHECK(kernel_sort("void at::native::_scatter_gather_elementwise_kernel<128, 8>(int)") == KernelSort::other);
  const std::string own = "void rangefinder::kernels::(anonymous namespace)::attention_";
  CHECK(kernel_sort(own + "scores_kernel<__half>(Args)") == KernelSort::matrix_product);
  CHECK(kernel_sort(own + "softmax_kernel<__half>(Args)") == KernelSort::softmax);
  CHECK(kernel_sort(own + "sum_kernel<__half>(Args)") == KernelSort::matrix_product);
  CHECK(kernel_sort(own + "kernel<__half, 32, 2>(Args, int)") == KernelSort::attention);
  CHECK(is_fp32_product(
      "void rangefinder::kernels::implicit_gemm_kernel<rangefinder::kernels::SimtEngine<128, 128, "
      "16, 16>, 3, 1>(Args)"));
  CHECK(is_fp32_product("void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_tn_align1>(Params)"));
  CHECK(is_fp32_product("ampere_sgemm_128x64_nn"));
  CHECK_FALSE(is_fp32_product(kTensorGemm));
}

TEST_CASE("the unit of a product is what its name says, and empty if it says nothing") {
  struct Case {
    const char *name, *unit;
  };
  const Case cases[] = {
      {"ampere_sgemm_128x64_nn", "FP32"},
      {"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_warpsize2x2x1_ffma_aligna4", "FP32"},
      {"void cutlass::Kernel2<cutlass_80_simt_sgemm_256x128_8x4_tn_align1>(Params)", "FP32"},
      {kTensorGemm, "tensor"},
      {"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x16_tensor16x8x8_execute", "tensor tf32"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_warpgroupsize1x1x1_execute", "tensor bf16"},
      {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn", "tensor fp16"},
      {"ampere_h16816gemm_256x128_ldg8_stages_32x3_tn", "tensor fp16"},
      {"nvjet_sm90_hsh_64x64_64x13_2x4_h_bz_NNT", "tensor fp16"},
      {"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", "tensor bf16"},
      {"nvjet_sm90_sss_64x64_64x13_2x4_h_bz_NNT", ""},  // its types do not say which unit
      {"nvjet_", ""},
      {"sm90_xmma_gemm_f16f16_f16f32_f32_nn", ""},
      {"void gemv2T_kernel_val<int, int, float, float, float, float, 128>(float)", ""},
      {"void at::native::multi_tensor_apply_kernel<Half>(int)", ""},
      {kAdd, ""},
      {kSoftmax, ""},
      {kFlash, ""},  // computes on tensor cores, but its name does not say so
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    CHECK(product_unit(one.name) == one.unit);
  }
}

TEST_CASE("grids of fewer blocks than multiprocessors are structural") {
  const Finding small =
      required(InOrder({"reduce(float*)"}, {grid_of(66, 256)}, 200 * kUs).found(), "grid_under_one_wave");

  // Eight blocks of 256 threads fit on each.
  check_evidence(small, {{"share_of_gpu_time", 1}, {"mean_fill", Approx(66.0 / (132 * 8))}});
  CHECK(small.where == "layer");
  CHECK_FALSE(small.saving_ns);
}

TEST_CASE("grids that fill half a wave, and grids of one block, are no finding") {
  const auto silent = [](std::uint32_t blocks) {
    return find(InOrder({"reduce(float*)"}, {grid_of(blocks, 256)}, 200 * kUs).found(),
                "grid_under_one_wave") == nullptr;
  };

  CHECK(silent(1));
  CHECK(silent(132 * 4));
  CHECK_FALSE(silent(132 * 4 - 1));
}

TEST_CASE("a last wave that is nearly empty is found, one of many waves is not") {
  const auto tail = [](std::uint32_t blocks) {
    return InOrder({"sweep(float*)"}, {grid_of(blocks, 256)}).found();
  };

  // 1,056 blocks are a wave. 1.25 of them take the time of two.
  const Finding found = required(tail(1'320), "tail_wave");
  check_evidence(found, {{"waves", Approx(1.25)}, {"last_wave_filled", Approx(0.25)}});
  CHECK(*found.saving_ns == Approx(10 * 100'000 * (1 - 1.25 / 2)).margin(2));
  CHECK(find(tail(2'112), "tail_wave") == nullptr);
  CHECK(find(tail(10 * 1'056 + 10), "tail_wave") == nullptr);
}

TEST_CASE("modules with numbers at the end of their names are one module, others are not") {
  CHECK(numbers_folded("decode/layer 12/mlp") == "decode/layer */mlp");
  CHECK(numbers_folded("layers/3/conv1") == "layers/*/conv1");
  CHECK(numbers_folded("block_7") == "block_*");
  CHECK(numbers_folded("fp16") == "fp16");
}

LaunchConfigRecord hungry(std::uint32_t blocks) {
  LaunchConfigRecord out = grid_of(blocks, 128, 64);
  out.dynamic_shared_bytes = 100'000;
  out.shared_bytes_executed = 101'024;
  return out;
}

TEST_CASE("low occupancy is found with its limiter, but not under one wave or in matrix products") {
  const auto low = [](const char* kernel, std::uint32_t blocks) {
    return InOrder({kernel}, {hungry(blocks)}).found();
  };

  // Two blocks of four warps.
  check_evidence(required(low("histogram(int*)", 66'000), "low_occupancy"),
                 {{"limiter", "shared memory"}, {"warps_per_sm", 8}, {"occupancy", Approx(8.0 / 64)}});
  CHECK(find(low("histogram(int*)", 66), "low_occupancy") == nullptr);
  CHECK(find(low(kTensorGemm, 66'000), "low_occupancy") == nullptr);
}

TEST_CASE("spilled registers are found from the launch configuration") {
  LaunchConfigRecord spilling = grid_of(66'000, 256, 255);
  spilling.local_bytes_per_thread = 448;
  const Finding local = required(InOrder({"fft(float2*)"}, {spilling}).found(), "local_memory");

  CHECK(local.where == "layer");
  CHECK(local.effect == "spills registers: it keeps 448 B a thread in local memory");
  check_evidence(local, {{"local_bytes_per_thread", 448}});
  CHECK(find(InOrder({"fft(float2*)"}, {grid_of(66'000, 256, 255)}).found(), "local_memory") == nullptr);
}

/// Two kernels, each three times alone for `alone` and ten times together for `together`.
std::vector<Finding> side_by_side(TimeNs alone, TimeNs together) {
  MadeTrace trace;
  trace.add_path("branches");
  const auto a = trace.add_name("left(float*)"), b = trace.add_name("right(float*)");
  const auto config = trace.add_config(grid_of(66'000, 256));
  TimeNs now = 1'000'000;
  for (int i = 0; i < 3; ++i) {
    now = trace.add(1, a, config, now + kUs, alone);
    now = trace.add(1, b, config, now + kUs, alone);
  }
  for (int i = 0; i < 10; ++i) {
    const TimeNs start = now + 2 * kUs;
    trace.add({1, a, config, start - 5 * kUs, start, start + together, 13});
    trace.add({1, b, config, start - 5 * kUs, start, start + together, 14});
    now = start + together;
  }
  return trace.found();
}

TEST_CASE("kernels that slow each other down are found by their times alone, others are not") {
  const Finding slower = required(side_by_side(100 * kUs, 300 * kUs), "slower_together");

  check_evidence(slower, {{"slower", Approx(1.5)}});
  CHECK(*slower.saving_ns == Approx(10 * 100'000).epsilon(0.1));  // without a warm-up
  CHECK(find(side_by_side(100 * kUs, 120 * kUs), "slower_together") == nullptr);
}

}  // namespace
}  // namespace rangefinder
