// SPDX-License-Identifier: Apache-2.0
#include "kernels/dependent_launch.cuh"
#include "kernels/gather/gather.h"
#include "kernels/gather/gather_arguments.h"
#include "kernels/packed_elements.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 128;

template <typename Word>
__device__ __forceinline__ Word all_ones();
template <>
__device__ __forceinline__ unsigned all_ones<unsigned>() {
  return 0xFFFFFFFFu;
}
template <>
__device__ __forceinline__ uint4 all_ones<uint4>() {
  return make_uint4(0xFFFFFFFFu, 0xFFFFFFFFu, 0xFFFFFFFFu, 0xFFFFFFFFu);
}

// Rows by index.
//
//   out[b,i,:] = source[b, indices[b,i], :]
//
// Shapes   source: (B, S) rows of row_bytes, strided; indices: (B, G); out: (B, G) rows, packed
// Tiling   a thread copies one word: 16 bytes if pointers and strides allow it, else 4
// Bytes    2 * G * row_bytes: 0.3 MB for 300 rows of 256 halves; bound by latency, not bytes
// Numerics a copy of bits; an index out of range gives 0xFF bytes and reads nothing
// Checked  tests/kernels/gather_check.cpp, equal bits.
template <typename Word>
__global__ void __launch_bounds__(kThreads) gather_kernel(GatherArgs args, int count) {
  wait_for_predecessor();
  const int at = static_cast<int>(blockIdx.x * kThreads + threadIdx.x);  // [0, count)
  if (at >= count) return;
  const int words = args.row_bytes / static_cast<int>(sizeof(Word));
  const int row = at / words;  // [0, B * G)
  const int image = row / args.gathered_rows;
  const int index = args.indices[row];
  Word word = all_ones<Word>();
  if (index >= 0 && index < args.source_rows)
    word = *reinterpret_cast<const Word*>(static_cast<const char*>(args.source) +
                                          image * source_image_step(args) + index * source_row_step(args) +
                                          at % words * static_cast<int>(sizeof(Word)));
  static_cast<Word*>(args.output)[at] = word;
}

template <typename Word>
cudaError_t launch_words(const GatherArgs& args, cudaStream_t stream) {
  const std::int64_t count =
      std::int64_t{args.images} * args.gathered_rows * (args.row_bytes / static_cast<int>(sizeof(Word)));
  unsigned blocks = 0;
  if (!blocks_for(count, kThreads, blocks)) return cudaErrorInvalidValue;
  if (blocks == 0) return cudaSuccess;
  return launch_dependent(gather_kernel<Word>, blocks, kThreads, 0, stream, args, static_cast<int>(count));
}

}  // namespace

cudaError_t launch_gather(const GatherArgs& args, cudaStream_t stream) {
  if (refusal(args) != nullptr || !is_aligned(args.source, 4) || !is_aligned(args.output, 4))
    return cudaErrorInvalidValue;
  const bool is_wide = args.row_bytes % 16 == 0 && source_row_step(args) % 16 == 0 &&
                       source_image_step(args) % 16 == 0 && is_aligned(args.source, 16) &&
                       is_aligned(args.output, 16);
  return is_wide ? launch_words<uint4>(args, stream) : launch_words<unsigned>(args, stream);
}

}  // namespace rangefinder::kernels
