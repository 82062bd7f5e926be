// SPDX-License-Identifier: Apache-2.0
//
// Rules about kernels, their launches and their order. The traces are synthetic; the kernel names are those
// of PyTorch, cuBLAS and this repository.
#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tools/analysis/findings/kernel_kinds.h"

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
constexpr const char* kSgemm = "ampere_sgemm_128x64_nn";
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
  const auto found = InOrder({kTensorGemm, kAdd, kGelu, kAdd}, {grid_of(4096, 256)}).found();

  const Finding* const chain = find(found, "unfused_chain");
  REQUIRE(chain != nullptr);
  CHECK(number(*chain, "chains") == 10);
  CHECK(*chain->saving_ns == 10 * 2 * 100'000u);
}

TEST_CASE("elementwise kernels of very different sizes are no chain") {
  CHECK(find(InOrder({kTensorGemm, kAdd, kGelu}, {grid_of(64, 128), grid_of(4, 128), grid_of(4096, 128)})
                 .found(),
             "unfused_chain") == nullptr);
}

TEST_CASE("an elementwise kernel between products is no chain") {
  CHECK(find(InOrder({kTensorGemm, kAdd}, {grid_of(4096, 256)}).found(), "unfused_chain") == nullptr);
}

TEST_CASE("product, softmax, product in one path is attention that writes its scores to memory") {
  const auto found = InOrder({kSgemm, kAdd, kSoftmax, kSgemm}, {grid_of(4096, 256)}).found();

  const Finding* const scores = find(found, "attention_scores");
  REQUIRE(scores != nullptr);
  CHECK(number(*scores, "times") == 10);
  CHECK(*scores->saving_ns == 10 * 200'000u);  // mask and softmax
}

TEST_CASE("flash attention does not write its scores to memory") {
  CHECK(find(InOrder({kTensorGemm, kFlash, kTensorGemm}, {grid_of(4096, 256)}).found(), "attention_scores") ==
        nullptr);
}

TEST_CASE("a softmax without a following product, as in a classifier, is no attention") {
  CHECK(find(InOrder({kTensorGemm, kSoftmax, kAdd, kAdd, kAdd, kAdd, kAdd}, {grid_of(4096, 256)}).found(),
             "attention_scores") == nullptr);
}

TEST_CASE("FP32 products are found with the saving that the peaks allow") {
  const auto found = InOrder({kSgemm}, {grid_of(4096, 256)}).found();

  const Finding* const fp32 = find(found, "fp32_math");
  REQUIRE(fp32 != nullptr);
  CHECK(fp32->where == "ampere_sgemm_128x64_nn");
  CHECK(static_cast<double>(*fp32->saving_ns) == Approx(10 * 100'000 * (1 - 66.90816 / 535.26528)));
}

TEST_CASE("products on tensor cores are no finding") {
  CHECK(find(InOrder({kTensorGemm}, {grid_of(4096, 256)}).found(), "fp32_math") == nullptr);
}

TEST_CASE("kernels are classified by their names") {
  CHECK(kernel_sort(kAdd) == KernelSort::elementwise);
  CHECK(kernel_sort(kSoftmax) == KernelSort::softmax);
  CHECK(kernel_sort(kFlash) == KernelSort::attention);
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
  CHECK_FALSE(is_fp32_product(kTensorGemm));
}

TEST_CASE("grids of fewer blocks than multiprocessors are structural") {
  const auto found = InOrder({"reduce(float*)"}, {grid_of(66, 256)}, 200 * kUs).found();

  const Finding* const small = find(found, "grid_under_one_wave");
  REQUIRE(small != nullptr);
  CHECK(number(*small, "under_sm_count_share") == 1);
  CHECK(number(*small, "mean_fill") == Approx(66.0 / (132 * 8)));  // eight blocks of 256 threads fit on each
  CHECK_FALSE(small->saving_ns);
}

TEST_CASE("grids of many waves are no finding") {
  CHECK(find(InOrder({"scale(float*)"}, {grid_of(66'000, 256)}, 200 * kUs).found(), "grid_under_one_wave") ==
        nullptr);
}

LaunchConfigRecord hungry(std::uint32_t blocks) {
  LaunchConfigRecord out = grid_of(blocks, 128, 64);
  out.dynamic_shared_bytes = 100'000;
  out.shared_bytes_executed = 101'024;
  return out;
}

TEST_CASE("low occupancy is found with its limiter") {
  const auto found = InOrder({"histogram(int*)"}, {hungry(66'000)}).found();

  const Finding* const low = find(found, "low_occupancy");
  REQUIRE(low != nullptr);
  CHECK(text(*low, "limiter") == "shared memory");
  CHECK(number(*low, "warps_per_sm") == 8);  // two blocks of four warps
  CHECK(number(*low, "occupancy") == Approx(8.0 / 64));
}

TEST_CASE("a grid under one wave has no occupancy finding") {
  CHECK(find(InOrder({"histogram(int*)"}, {hungry(66)}).found(), "low_occupancy") == nullptr);
}

TEST_CASE("matrix products with few warps are no finding") {
  CHECK(find(InOrder({kTensorGemm}, {hungry(66'000)}).found(), "low_occupancy") == nullptr);
}

TEST_CASE("spilled registers are found from the launch configuration") {
  LaunchConfigRecord spilling = grid_of(66'000, 256, 255);
  spilling.local_bytes_per_thread = 448;
  const auto found = InOrder({"fft(float2*)"}, {spilling}).found();

  const Finding* const local = find(found, "local_memory");
  REQUIRE(local != nullptr);
  CHECK(local->title == "Registers are spilled to local memory in fft");
  CHECK(number(*local, "local_bytes_per_thread") == 448);
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

TEST_CASE("kernels that slow each other down are found by their times alone") {
  const auto found = side_by_side(100 * kUs, 300 * kUs);

  const Finding* const slower = find(found, "slower_together");
  REQUIRE(slower != nullptr);
  CHECK(number(*slower, "slower") == Approx(1.5));
  CHECK(*slower->saving_ns == 10 * 100'000u);
}

TEST_CASE("kernels that gain by running together are no finding") {
  CHECK(find(side_by_side(100 * kUs, 120 * kUs), "slower_together") == nullptr);
}

}  // namespace
}  // namespace rangefinder
