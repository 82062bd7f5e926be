// SPDX-License-Identifier: Apache-2.0
#include "kernels/dependent_launch.cuh"
#include "kernels/device_facts.h"
#include "kernels/packed_elements.cuh"
#include "kernels/top_k/key_order.cuh"
#include "kernels/top_k/top_k.h"
#include "kernels/top_k/top_k_arguments.h"
#include "kernels/warp_reduce.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kKeyThreads = 128;
constexpr int kLanesPerRow = 4;
constexpr int kThreads = 1024;
constexpr int kWarps = kThreads / 32;
constexpr int kBins = 2048;

// The key of every row.
//
//   keys[r] = ordered(max_c scores[r,c])
//
// Shapes   scores: (R, C) fp32, R = images * rows; keys: (R)
// Tiling   four lanes share a row, 16 bytes each at a time where C is a multiple of 4
// Bytes    2.7 MB read at batch 1 (8400 x 80): bound by L2
// Numerics exact; a row with a NaN has the key of NaN
// Checked  tests/kernels/top_k_check.cpp, equal indices.
template <typename Vector>
__global__ void __launch_bounds__(kKeyThreads) row_key_kernel(TopKArgs args, int rows) {
  wait_for_predecessor();
  const int thread = static_cast<int>(blockIdx.x * kKeyThreads + threadIdx.x);
  const int row = min(thread / kLanesPerRow, rows - 1);  // no lane exits: the shuffles need all
  const int lane = thread % kLanesPerRow;
  const int vectors = args.columns * 4 / static_cast<int>(sizeof(Vector));
  const Vector* const scores = reinterpret_cast<const Vector*>(args.scores) + std::int64_t{row} * vectors;
  float best = __int_as_float(0xFF800000);  // -inf
#pragma unroll 5
  for (int i = lane; i < vectors; i += kLanesPerRow) {
    const Vector vector = scores[i];
    const float* const values = reinterpret_cast<const float*>(&vector);
#pragma unroll
    for (int part = 0; part < static_cast<int>(sizeof(Vector) / 4); ++part)
      best = nan_or_maximum(best, values[part]);
  }
  best = group_nan_or_maximum<1, kLanesPerRow>(best);
  if (lane == 0 && thread / kLanesPerRow < rows) static_cast<unsigned*>(args.workspace)[row] = ordered(best);
}

struct SelectionState {
  int histogram[kBins];
  int warp_total[kWarps];
  int bin;     ///< the bin of the last chosen row
  int in_bin;  ///< rows in that bin
  int needed;  ///< rows still to choose from it
  int above;   ///< rows in greater bins
  int collected;
  unsigned warp_least[kWarps];
  unsigned warp_greatest[kWarps];
  unsigned long long row[kMaxChosen];
  int rank[kMaxChosen];
};

/// Finds the bin, from the greatest down, at which the count reaches state.needed. All threads must call it.
__device__ void find_bin(SelectionState& state) {
  const int thread = static_cast<int>(threadIdx.x);
  const int high = kBins - 1 - 2 * thread;  // this thread's bins: high, high - 1
  const int upper = state.histogram[high];
  const int both = upper + state.histogram[high - 1];
  const int needed = state.needed;
  int through = both;  // rows in bins down to this thread's, in the warp
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int other = __shfl_up_sync(kWholeWarp, through, step);
    if (thread % 32 >= step) through += other;
  }
  if (thread % 32 == 31) state.warp_total[thread / 32] = through;
  __syncthreads();
  const int before = warp_sum(thread % 32 < thread / 32 ? state.warp_total[thread % 32] : 0);
  const int above = before + through - both;  // rows in greater bins
  if (above < needed && needed <= above + both) {
    const bool is_upper = needed <= above + upper;
    state.bin = is_upper ? high : high - 1;
    state.in_bin = is_upper ? upper : both - upper;
    state.above = above + (is_upper ? 0 : upper);
    state.needed = needed - state.above;
  }
  __syncthreads();
}

/// The smallest chosen composite: a radix selection over 11, 11, 10, 8 and 8 bits. It stops early if all rows
/// of a bin are needed. The rows' bits only matter among equal keys.
__device__ unsigned long long threshold_of(SelectionState& state, const unsigned* keys, int rows) {
  constexpr int kPasses = 5;
  constexpr int kShift[kPasses] = {37, 26, 16, 8, 0};
  constexpr int kWidth[kPasses] = {11, 11, 10, 8, 8};
  unsigned long long prefix = 0;
  for (int pass = 0; pass < kPasses; ++pass) {
    const int shift = kShift[pass];
    const int width = kWidth[pass];
    for (int i = static_cast<int>(threadIdx.x); i < kBins; i += kThreads) state.histogram[i] = 0;
    __syncthreads();
    for (int row = static_cast<int>(threadIdx.x); row < rows; row += kThreads) {
      const unsigned long long own = composite(keys[row], row) >> shift;
      if (own >> width == prefix) atomicAdd(&state.histogram[own & ((1u << width) - 1)], 1);
    }
    __syncthreads();
    find_bin(state);
    prefix = prefix << width | static_cast<unsigned>(state.bin);
    if (state.in_bin == state.needed) return prefix << shift;
  }
  return prefix;
}

/// Minimum and maximum key of the image, in all threads.
__device__ uint2 range_of(SelectionState& state, const unsigned* keys, int rows) {
  const int thread = static_cast<int>(threadIdx.x);
  unsigned least = 0xFFFFFFFFu;
  unsigned greatest = 0;
  for (int row = thread; row < rows; row += kThreads) {
    least = min(least, keys[row]);
    greatest = max(greatest, keys[row]);
  }
  least = __reduce_min_sync(kWholeWarp, least);
  greatest = __reduce_max_sync(kWholeWarp, greatest);
  if (thread % 32 == 0) {
    state.warp_least[thread / 32] = least;
    state.warp_greatest[thread / 32] = greatest;
  }
  __syncthreads();
  return make_uint2(__reduce_min_sync(kWholeWarp, state.warp_least[thread % 32]),
                    __reduce_max_sync(kWholeWarp, state.warp_greatest[thread % 32]));
}

/// One histogram over the keys' own range. Collects the bins down to the k-th key, k rows or a few more.
/// Returns false if they hold too many: many equal keys, or an outlier that widens the range.
__device__ bool collect_by_range(SelectionState& state, const unsigned* keys, int rows) {
  const uint2 range = range_of(state, keys, rows);
  const int shift = max(0, 21 - __clz(static_cast<int>(range.y - range.x)));  // 11 bits are left
  for (int row = static_cast<int>(threadIdx.x); row < rows; row += kThreads)
    atomicAdd(&state.histogram[(keys[row] - range.x) >> shift], 1);
  __syncthreads();
  find_bin(state);
  if (state.above + state.in_bin > kMaxChosen) return false;
  const unsigned lowest = static_cast<unsigned>(state.bin);
  for (int row = static_cast<int>(threadIdx.x); row < rows; row += kThreads)
    if ((keys[row] - range.x) >> shift >= lowest)
      state.row[atomicAdd(&state.collected, 1)] = composite(keys[row], row);
  return true;
}

/// Collects exactly k rows, for any keys.
__device__ void collect_by_digits(SelectionState& state, const unsigned* keys, int rows, int k) {
  if (threadIdx.x == 0) state.needed = k;
  const unsigned long long threshold = threshold_of(state, keys, rows);  // begins with a barrier
  for (int row = static_cast<int>(threadIdx.x); row < rows; row += kThreads) {
    const unsigned long long own = composite(keys[row], row);
    if (own >= threshold) state.row[atomicAdd(&state.collected, 1)] = own;
  }
}

/// Writes the first k of the collected rows in order. A row's rank is the number of rows before it.
__device__ void write_in_order(SelectionState& state, const TopKArgs& args) {
  const int thread = static_cast<int>(threadIdx.x);
  const int collected = state.collected;   // [k, kMaxChosen]
  const int parts = kThreads / collected;  // threads that share the counting for a row
  const int part = thread / collected;
  const int length = (collected + parts - 1) / parts;
  if (part < parts) {
    const unsigned long long own = state.row[thread % collected];
    int before = 0;
#pragma unroll 8
    for (int other = part * length; other < min(collected, (part + 1) * length); ++other)
      before += state.row[other] > own ? 1 : 0;
    atomicAdd(&state.rank[thread % collected], before);
  }
  __syncthreads();
  if (thread >= collected || state.rank[thread] >= args.k) return;
  const unsigned long long own = state.row[thread];
  const std::int64_t target = std::int64_t{blockIdx.x} * args.k + state.rank[thread];
  args.indices[target] = kMaxRows - 1 - static_cast<int>(own & (kMaxRows - 1));
  if (args.keys != nullptr) args.keys[target] = unordered(static_cast<unsigned>(own >> kRowBits));
}

/// Loads the keys of an image into shared memory, 16 bytes at a time if they are aligned.
template <bool kFromScores>
__device__ void copy_keys(unsigned* shared, const unsigned* source, int rows) {
  const int thread = static_cast<int>(threadIdx.x);
  const auto key = [](unsigned bits) { return kFromScores ? ordered(__uint_as_float(bits)) : bits; };
  if (rows % 4 != 0 || reinterpret_cast<std::uintptr_t>(source) % 16 != 0) {
#pragma unroll 8
    for (int row = thread; row < rows; row += kThreads) shared[row] = key(source[row]);
    return;
  }
#pragma unroll 4
  for (int pack = thread; pack < rows / 4; pack += kThreads) {
    const uint4 four = reinterpret_cast<const uint4*>(source)[pack];
    reinterpret_cast<uint4*>(shared)[pack] = make_uint4(key(four.x), key(four.y), key(four.z), key(four.w));
  }
}

// The k greatest keys of an image, in order.
//
// Shapes   keys: (images, rows), from row_key_kernel or, with one column, the scores themselves;
//          indices, args.keys: (images, k)
// Tiling   one block per image. Keys are read once into shared memory if they fit (8400: 34 KB), else every
//          pass reads them from L2. One histogram of 2048 bins over the keys' range leaves little more than
//          k rows, which are ordered by counting; many equal keys use radix selection.
// Bytes    34 KB read at 8400 rows: bound by the passes, about 1 us each
// Numerics exact. Atomics only count, so their order does not matter.
// Checked  tests/kernels/top_k_check.cpp against std::partial_sort: equal indices, with ties and NaN.
template <bool kInShared, bool kFromScores>
__global__ void __launch_bounds__(kThreads) select_kernel(TopKArgs args) {
  wait_for_predecessor();
  __shared__ SelectionState state;
  extern __shared__ uint4 shared_keys[];
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t start = std::int64_t{blockIdx.x} * args.rows;
  const unsigned* keys = static_cast<const unsigned*>(args.workspace) + start;
  if (kInShared) {
    unsigned* const copy = reinterpret_cast<unsigned*>(shared_keys);
    copy_keys<kFromScores>(copy, kFromScores ? reinterpret_cast<const unsigned*>(args.scores) + start : keys,
                           args.rows);
    keys = copy;
  }
  if (thread == 0) {
    state.needed = args.k;
    state.collected = 0;
  }
  state.rank[thread] = 0;
  for (int i = thread; i < kBins; i += kThreads) state.histogram[i] = 0;
  __syncthreads();
  if (!collect_by_range(state, keys, args.rows)) {
    __syncthreads();  // all threads have read the results of find_bin()
    collect_by_digits(state, keys, args.rows, args.k);
  }
  __syncthreads();
  write_in_order(state, args);
}

cudaError_t launch_row_keys(const TopKArgs& args, cudaStream_t stream) {
  const int rows = args.images * args.rows;
  unsigned blocks = 0;
  if (!blocks_for(std::int64_t{rows} * kLanesPerRow, kKeyThreads, blocks)) return cudaErrorInvalidValue;
  const bool is_wide = args.columns % 4 == 0 && is_aligned(args.scores, 16);
  return launch_dependent(is_wide ? row_key_kernel<float4> : row_key_kernel<float>, blocks, kKeyThreads, 0,
                          stream, args, rows);
}

template <bool kInShared, bool kFromScores>
cudaError_t launch_selection(const TopKArgs& args, int key_bytes, cudaStream_t stream) {
  const auto kernel = select_kernel<kInShared, kFromScores>;
  const cudaError_t status =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, key_bytes);
  if (status != cudaSuccess) return status;
  return launch_dependent(kernel, static_cast<unsigned>(args.images), kThreads,
                          static_cast<std::size_t>(key_bytes), stream, args);
}

}  // namespace

std::size_t top_k_workspace_bytes(const TopKArgs& args) {
  return static_cast<std::size_t>(args.images) * static_cast<std::size_t>(args.rows) * sizeof(unsigned);
}

cudaError_t launch_top_k(const TopKArgs& args, cudaStream_t stream) {
  if (refusal(args) != nullptr || std::int64_t{args.images} * args.rows > 0x7FFFFFFF / kLanesPerRow)
    return cudaErrorInvalidValue;
  if (args.images == 0 || args.k == 0) return cudaSuccess;
  DeviceFacts facts;
  const cudaError_t status = current_device_facts(facts);
  if (status != cudaSuccess) return status;
  const int key_bytes = args.rows * static_cast<int>(sizeof(unsigned));
  const bool fits = key_bytes + static_cast<int>(sizeof(SelectionState)) <= facts.shared_bytes_per_block;
  if (fits && args.columns == 1) return launch_selection<true, true>(args, key_bytes, stream);
  if (args.workspace == nullptr) return cudaErrorInvalidValue;
  const cudaError_t keys_status = launch_row_keys(args, stream);
  if (keys_status != cudaSuccess) return keys_status;
  return fits ? launch_selection<true, false>(args, key_bytes, stream)
              : launch_selection<false, false>(args, 0, stream);
}

}  // namespace rangefinder::kernels
