// SPDX-License-Identifier: Apache-2.0
//
// Launcher of fused attention: chooses the kernel and the number of keys in a chunk.
#include "kernels/attention/attention.h"

#include "kernels/attention/attention_arguments.h"
#include "kernels/attention/attention_fp32.cuh"
#include "kernels/attention/attention_mma.cuh"
#include "kernels/dependent_launch.cuh"
#include "kernels/device_facts.h"

namespace rangefinder::kernels {
namespace {

/// Blocks of `block_queries` queries each. Returns false if there are too many.
bool blocks_of(const AttentionArgs& args, int block_queries, unsigned& blocks) {
  const std::int64_t of_a_head = (args.queries + block_queries - 1) / block_queries;
  return blocks_for(of_a_head * args.heads * args.images, 1, blocks);
}

template <int kChannels>
cudaError_t launch_fp32(const AttentionArgs& args, cudaStream_t stream) {
  unsigned blocks = 0;
  if (!blocks_of(args, attention_fp32::kBlockQueries, blocks)) return cudaErrorInvalidValue;
  return launch_dependent(attention_fp32::attention_kernel<kChannels>, blocks, attention_fp32::kWarps * 32, 0,
                          stream, args);
}

template <typename Element, int kChannels, int kQueryTiles>
cudaError_t launch_mma(const AttentionArgs& args, int max_shared_bytes, cudaStream_t stream) {
  using namespace attention_mma;
  int chunk_keys = (args.keys + kTile - 1) / kTile * kTile;
  if (chunk_keys > kMaxChunkKeys) chunk_keys = kMaxChunkKeys;
  while (shared_bytes<Element, kChannels, kQueryTiles>(chunk_keys) > max_shared_bytes) chunk_keys -= kTile;
  if (chunk_keys <= 0) return cudaErrorInvalidValue;
  const int bytes = shared_bytes<Element, kChannels, kQueryTiles>(chunk_keys);
  unsigned blocks = 0;
  if (!blocks_of(args, kQueryTiles * kTile, blocks)) return cudaErrorInvalidValue;
  const auto kernel = attention_kernel<Element, kChannels, kQueryTiles>;
  const cudaError_t status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status != cudaSuccess) return status;
  return launch_dependent(kernel, blocks, kQueryTiles * kSplits * 32, static_cast<std::size_t>(bytes), stream,
                          args, chunk_keys);
}

/// Few queries take small blocks, so that more multiprocessors work. Many queries take large blocks, which
/// read each key half as often.
template <typename Element, int kChannels>
cudaError_t launch_16bit(const AttentionArgs& args, cudaStream_t stream) {
  DeviceFacts facts;
  const cudaError_t status = current_device_facts(facts);
  if (status != cudaSuccess) return status;
  const std::int64_t tiles = std::int64_t{args.images} * args.heads * ((args.queries + 15) / 16);
  if (tiles <= 4 * std::int64_t{facts.multiprocessors})
    return launch_mma<Element, kChannels, 2>(args, facts.shared_bytes_per_block, stream);
  return launch_mma<Element, kChannels, 4>(args, facts.shared_bytes_per_block, stream);
}

template <int kChannels>
cudaError_t launch_heads(const AttentionArgs& args, cudaStream_t stream) {
  switch (args.element) {
    case ElementType::fp32:
    case ElementType::tf32:
      return launch_fp32<kChannels>(args, stream);
    case ElementType::fp16:
      return launch_16bit<__half, kChannels>(args, stream);
    case ElementType::bf16:
      return launch_16bit<__nv_bfloat16, kChannels>(args, stream);
  }
  return cudaErrorInvalidValue;
}

}  // namespace

cudaError_t launch_attention(const AttentionArgs& args, cudaStream_t stream) {
  if (refusal(args) != nullptr || !is_aligned(args.query.data, 16) || !is_aligned(args.key.data, 16) ||
      !is_aligned(args.value.data, 16) || !is_aligned(args.output, 16))
    return cudaErrorInvalidValue;
  if (args.images == 0 || args.queries == 0) return cudaSuccess;
  return args.head_channels == kHeadChannelsOfMost ? launch_heads<kHeadChannelsOfMost>(args, stream)
                                                   : launch_heads<kHeadChannelsOfR101>(args, stream);
}

}  // namespace rangefinder::kernels
