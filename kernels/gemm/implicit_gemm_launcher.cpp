// SPDX-License-Identifier: Apache-2.0
//
// Completes a product, plans it and calls the launcher of its tile.
#include "kernels/device_facts.h"
#include "kernels/gemm/implicit_gemm.h"
#include "kernels/gemm/launch_plan.h"

namespace rangefinder::kernels {
namespace {

constexpr DeviceFacts kAssumedDevice{132, 80, 99 * 1024};  ///< if there is no device

void finish_sizes(ImplicitGemm& gemm) {
  gemm.taps_inner = gemm.kernel_size == 3 && gemm.channel_chunks % kBlockChunks == 0;
  gemm.blocks_k = (gemm.depth_chunks() + kBlockChunks - 1) / kBlockChunks;
  gemm.by_pixels = FastDivisor(gemm.pixels);
  gemm.by_output_width = FastDivisor(gemm.output_width);
}

}  // namespace

int implicit_gemm_tiles(ElementType element) {
  DeviceFacts facts;
  return current_device_facts(facts) == cudaSuccess ? tile_count(element, facts) : 0;
}

std::size_t implicit_gemm_workspace_bytes(ElementType element, const ImplicitGemm& gemm,
                                          LaunchChoice choice) {
  if (gemm.rows == 0 || gemm.columns == 0 || gemm.groups == 0) return 0;
  DeviceFacts facts;
  if (current_device_facts(facts) != cudaSuccess) facts = kAssumedDevice;
  ImplicitGemm sized = gemm;
  finish_sizes(sized);
  return plan_launch(element, sized, choice, facts, true).workspace_bytes;
}

cudaError_t launch_implicit_gemm(ElementType element, ImplicitGemm gemm, const LaunchChoice& choice,
                                 cudaStream_t stream) {
  if (gemm.rows == 0 || gemm.columns == 0 || gemm.groups == 0) return cudaSuccess;
  DeviceFacts facts;
  const cudaError_t status = current_device_facts(facts);
  if (status != cudaSuccess) return status;
  finish_sizes(gemm);
  const LaunchPlan plan = plan_launch(element, gemm, choice, facts, false);
  if (plan.tile == nullptr) return cudaErrorInvalidValue;
  gemm.splits_k = plan.splits;
  gemm.blocks_per_split = (gemm.blocks_k + plan.splits - 1) / plan.splits;
  gemm.multiprocessors = facts.multiprocessors;
  gemm.may_start_early = gemm.may_start_early && has_hopper_code(facts);
  if (plan.splits > 1) {
    gemm.counters = static_cast<unsigned*>(choice.workspace.data);
    gemm.partial_sums =
        reinterpret_cast<float*>(static_cast<char*>(choice.workspace.data) + kWorkspaceCounterBytes);
  }
  return plan.tile->launch(gemm, stream);
}

}  // namespace rangefinder::kernels
