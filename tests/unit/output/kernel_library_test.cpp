// SPDX-License-Identifier: Apache-2.0
//
// Kernel names of real libraries, from traces and from their sources.
#include "profiler/output/kernel_library.h"

#include "tests/catch.h"

using rangefinder::kernel_origin;

namespace {

struct Named {
  const char* demangled;
  const char* from_library;
};

void check_all(std::initializer_list<Named> kernels) {
  for (const Named& kernel : kernels) {
    INFO(kernel.demangled);
    CHECK(kernel_origin(kernel.demangled, kernel.demangled).from_library == kernel.from_library);
  }
}

}  // namespace

TEST_CASE("kernels of cuBLAS and cuBLASLt") {
  check_all({
      {"nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", "cuBLAS"},
      {"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "cuBLAS"},
      {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn", "cuBLAS"},
      {"ampere_sgemm_128x64_tn", "cuBLAS"},
      {"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "cuBLAS"},
      {"volta_sgemm_128x64_nn", "cuBLAS"},
      {"sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x128x64_warpgroupsize1x1x1_execute_segment_k_off_"
       "kernel__5x_cublas",
       "cuBLAS"},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float, __half, float, __half, false, true, false>"
       "(cublasLt::cublasSplitKParams<float>, float const*)",
       "cuBLAS"},
      {"void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, false, false, "
       "cublasGemvParamsEx<int>>(cublasGemvParamsEx<int>, float, float)",
       "cuBLAS"},
      {"void gemvNSP_kernel<float, float, float, float, 1, 16, 4, 1024, cublasGemvParamsEx<int>>(float)",
       "cuBLAS"},
      {"void dot_kernel<float, 128, 0, cublasDotParams<cublasGemvTensor<float const>>>(float)", "cuBLAS"},
  });
}

TEST_CASE("kernels of cuDNN") {
  check_all({
      {"sm80_xmma_fprop_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x64x32_stage5_"
       "kernel_cudnn",
       "cuDNN"},
      {"sm90_xmma_dgrad_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x64_execute", "cuDNN"},
      {"void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, 512, true, 1>(float const*)", "cuDNN"},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_kernel0_0",
       "cuDNN"},
      {"void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, true, false, true>(int)", "cuDNN"},
      {"void cutlass__5x_cudnn::Kernel<cutlass_tensorop_f16_s16816fprop_optimized_f16_128x128>(int)",
       "cuDNN"},
      {"void winograd_nonfused::winogradForwardData4x4<float>(int)", "cuDNN"},
  });
}

TEST_CASE("kernels of CUTLASS, unless the name contains that of the library built from it") {
  check_all({
      {"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64_64x6_tn_align8>"
       "(cutlass_80_tensorop_f16_s16816gemm_relu_f16_64x64_64x6_tn_align8::Params)",
       "CUTLASS"},
      {"cutlass_80_wmma_tensorop_f16_s161616gemm_f16_16x16_128x2_nn_align8", "CUTLASS"},
      {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, "
       "int>>>(int)",
       "CUTLASS"},
      {"fmha_cutlassF_f16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t>::"
       "Params)",
       "CUTLASS"},
      {"void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 64, 4, "
       "cutlass::half_t>, false>(pytorch_flash::Flash_fwd_params)",
       "PyTorch"},
  });
}

TEST_CASE("kernels of NCCL, old and new") {
  check_all({
      {"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL"},
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "NCCL"},
      {"ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f32(ncclSymkDevWorkArgs4K)", "NCCL"},
  });
}

TEST_CASE("kernels of Triton, by Inductor's prefix or by the signature at the end") {
  check_all({
      {"triton_poi_fused_add_relu_0", "Triton"},
      {"triton_red_fused__to_copy_mean_3", "Triton"},
      {"triton_tem_fused_mm_12", "Triton"},
      {"triton_poi_fused__scaled_dot_product_cudnn_attention_add_3", "Triton"},
      {"add_kernel_0d1d2d3de", "Triton"},
      {"_attn_fwd_0d1d2d34d5d6de7de8c9de", "Triton"},
  });
  CHECK(kernel_origin("add_kernel_0d1d2d3de", "add_kernel_0d1d2d3de").evidence ==
        "name ends in a Triton signature");
}

TEST_CASE("kernels of PyTorch itself") {
  check_all({
      {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, "
       "1ul>>"
       "(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
       "PyTorch"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 3, 64, 64>(float*)",
       "PyTorch"},
      {"void (anonymous namespace)::softmax_warp_forward<c10::Half, c10::Half, float, 6, false, "
       "false>(c10::Half*)",
       "PyTorch"},
      {"void at_cuda_detail::cub::DeviceScanKernel<at_cuda_detail::cub::DeviceScanPolicy<int>>(int)",
       "PyTorch"},
  });
}

TEST_CASE("kernels of other libraries") {
  check_all({
      {"void cub::CUB_200700_900_NS::DeviceReduceKernel<cub::Policy900, int*>(int*)", "CUB"},
      {"void thrust::cuda_cub::core::_kernel_agent<thrust::cuda_cub::__parallel_for>(int)", "Thrust"},
      {"void cusparse::csrmv_v3_kernel<int, int, double>(int)", "cuSPARSE"},
      {"void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4>>(Flash_fwd_params)",
       "FlashAttention"},
  });
}

TEST_CASE("a kernel without a matching pattern is the application's own, and the evidence says so") {
  check_all({
      {"add(float*, float const*, int)", "own"},
      {"void layernorm<256>(LayernormArguments)", "own"},
      {"my_ampere_test", "own"},  // "ampere_" counts only at the start
      {"step_12", "own"},         // a number is not a signature
      {"conv_3d", "own"},         // one specialised argument is not a signature either
      {"pool_2d3x", "own"},
      {"kernel_", "own"},
      {"_", "own"},
      {"", "own"},
  });
  CHECK(kernel_origin("_Z3addPf", "add(float*)").evidence == "no known pattern");
}

TEST_CASE("the evidence is the matching part of the name") {
  CHECK(kernel_origin("nvjet_x", "nvjet_x").evidence == "name starts with nvjet_");
  CHECK(kernel_origin("k", "void at::native::k<int>()").evidence == "name contains at::native");
}

TEST_CASE("a return type does not hide the start of a name") {
  CHECK(kernel_origin("", "void cutlass_kernel<float>(float)").evidence == "name starts with cutlass_");
}
