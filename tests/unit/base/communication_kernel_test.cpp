// SPDX-License-Identifier: Apache-2.0
//
// Kernel names of real libraries, from traces and from their sources.
#include "profiler/base/communication_kernel.h"

#include "tests/catch.h"

using rangefinder::communication_kernel;
using rangefinder::communication_operation;

namespace {

struct Named {
  const char* demangled;
  const char* from_library;
  const char* operation;
};

}  // namespace

TEST_CASE("kernels that communicate are known by their libraries' names") {
  const Named kernels[] = {
      {"ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "AllReduce"},
      {"ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "NCCL", "AllReduce"},
      {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL",
       "ReduceScatter"},
      {"ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "Reduce"},
      {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "NCCL", "SendRecv"},
      {"ncclDevKernel_Generic(ncclDevKernelArgsStorage<4096ul>)", "NCCL", ""},
      {"ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_f32(ncclSymkDevWorkArgs4K)", "NCCL", "AllReduce"},
      {"ncclSymDevKernel_AllGather_LL(ncclSymDevArgs)", "NCCL", "AllGather"},
      {"nvshmemi_barrier_all_kernel()", "NVSHMEM", "Barrier"},
      {"void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, "
       "2>(c10::BFloat16**, unsigned long, unsigned long, unsigned int**, unsigned long, unsigned long)",
       "symmetric memory", "AllReduce"},
      {"one_shot_all_reduce_kernel", "symmetric memory", "AllReduce"},
      {"multimem_all_gather_kernel(char*)", "symmetric memory", "AllGather"},
      {"c10d::symmetric_memory::put_signal_kernel(unsigned int**, int, int, int, int, unsigned long)",
       "symmetric memory", "put_signal_kernel"},
      {"void vllm::cross_device_reduce_2stage<__half, 2>(vllm::RankData*, vllm::RankSignals, vllm::Signal*, "
       "__half*, int, int)",
       "vLLM", "AllReduce"},
      {"void sglang::cross_device_reduce_1stage<__half, 8>(sglang::RankData*)", "SGLang", "AllReduce"},
      {"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<1, "
       "__nv_bfloat16>(int)",
       "FlashInfer", "AllReduce"},
      {"void tensorrt_llm::kernels::oneShotAllReduceKernel<__half, 2>(int)", "communication", "AllReduce"},
      {"mscclpp::allgather<float>(int)", "MSCCL++", "AllGather"},
      {"void deep_ep::intranode::dispatch<8, 768>(int)", "DeepEP", "dispatch"},
  };
  for (const Named& kernel : kernels) {
    INFO(kernel.demangled);
    const auto found = communication_kernel(kernel.demangled);
    REQUIRE(found);
    CHECK(found->from_library == kernel.from_library);
    CHECK(found->operation == kernel.operation);
  }
  CHECK(communication_kernel("one_shot_all_reduce_kernel")->evidence == "name starts with one_shot_");
}

TEST_CASE("a name that has such a word elsewhere is no communication") {
  for (const char* const name :
       {"gemm", "void at::native::reduce_kernel<512, 1>(int)", "nccl_check(int)",
        "void cutlass::Kernel2<all_reduce_epilogue>(int)", "triton_poi_fused_add_all_reduce_0",
        "void softmax_warp_forward<one_shot_tag>(one_shot_tag)", "cross_entropy", ""}) {
    INFO(name);
    CHECK_FALSE(communication_kernel(name));
  }
}

TEST_CASE("the operation of a kernel that only the user knows is in its name, or is its name") {
  CHECK(communication_operation("void own::ring_all_gather<float>(float*)") == "AllGather");
  CHECK(communication_operation("void own::exchange<float>(float*)") == "exchange");
}
