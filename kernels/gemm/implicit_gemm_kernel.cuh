// SPDX-License-Identifier: Apache-2.0
//
// The kernel that all engines share, and its launch.
//
//   grid   x: tiles, columns first, so that concurrent blocks read the same rows of A
//          y: splits of K       z: groups
//   stages a ring in shared memory; loads run kStages - 1 stages ahead of the products
//
// A launch requests only the shared memory that this K fills: a product of one stage leaves room for more
// blocks on the multiprocessor. The epilogue's tile uses the same bytes.
#pragma once

#include <atomic>

#include "kernels/dependent_launch.cuh"
#include "kernels/gemm/epilogue.cuh"
#include "kernels/gemm/tile_loader.cuh"

namespace rangefinder::kernels {

inline constexpr int kSharedAlignment = 1024;  ///< bytes; the swizzle of wgmma needs it

/// All of this block's K, for engines whose products are done when multiply() returns.
template <class Engine, int kStages, class Loader>
__device__ __forceinline__ void run_stages(const ImplicitGemm& gemm, Loader& loader, unsigned ring,
                                           int blocks, float (&sums)[Engine::kAccumulators]) {
  int reading = 0;
  int writing = kStages - 1;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    wait_for_copies<kStages - 2>();
    __syncthreads();  // the stage has arrived, and all warps are done with the one written next
    if (block + kStages - 1 < blocks) loader.load(gemm, ring + writing * Loader::kStageBytes);
    commit_copies();
    const unsigned a = ring + reading * Loader::kStageBytes;
    Engine::multiply(sums, a, a + Engine::kTileRows * kStageRowBytes);
    reading = reading + 1 == kStages ? 0 : reading + 1;
    writing = writing + 1 == kStages ? 0 : writing + 1;
  }
}

template <class Engine, int kStages, int kBlocksPerSm>
__global__ void __launch_bounds__(Engine::kThreads, kBlocksPerSm)
    implicit_gemm_kernel(const __grid_constant__ ImplicitGemm gemm) {
  using Loader = TileLoader<Engine::kTileRows, Engine::kTileColumns, Engine::kThreads>;
  extern __shared__ __align__(kSharedAlignment) unsigned char shared[];
  const int tiles_across = (gemm.columns + Engine::kTileColumns - 1) / Engine::kTileColumns;
  const int tile = static_cast<int>(blockIdx.x);
  const int split = static_cast<int>(blockIdx.y);
  const int group = static_cast<int>(blockIdx.z);
  const int first_row = tile / tiles_across * Engine::kTileRows;
  const int first_column = tile % tiles_across * Engine::kTileColumns;
  const int first_block = split * gemm.blocks_per_split;
  const int blocks = min(gemm.blocks_per_split, gemm.blocks_k - first_block);

  const ConsecutiveRows rows{first_row, gemm.rows};
  const unsigned ring = shared_address(shared);

  float sums[Engine::kAccumulators];
#pragma unroll
  for (int i = 0; i < Engine::kAccumulators; ++i) sums[i] = 0;
  allow_successor();
  prefetch_bias<Engine::kTileColumns>(gemm, first_column);
  {
    Loader loader(gemm, first_column, group, first_block);
    loader.template fill<kStages - Engine::kStagesNotAhead>(gemm, ring, first_row, first_block, blocks);
    if (gemm.residual_in_shared)
      fetch_residual<Engine>(gemm, ring + gemm.residual_place, rows, first_column, group);
    if constexpr (Engine::kIsAsync)
      Engine::template run<kStages>(gemm, loader, ring, blocks, sums);
    else
      run_stages<Engine, kStages>(gemm, loader, ring, blocks, sums);
  }
  if (gemm.splits_k > 1) {
    const int tile_of_all = group * static_cast<int>(gridDim.x) + tile;
    if (!add_splits<Engine::kThreads>(gemm, sums, tile_of_all, split)) return;
  }
  wait_for_copies<0>();
  __syncthreads();  // the tile overwrites the ring
  float* const tile_sums = reinterpret_cast<float*>(shared);
  Engine::to_tile(sums, tile_sums);
  __syncthreads();
  using Element = typename Engine::Element;
  const Element* const fetched =
      gemm.residual_in_shared ? reinterpret_cast<const Element*>(shared + gemm.residual_place) : nullptr;
  store_tile<Element, Engine::kTileRows, Engine::kTileColumns, Engine::kThreads>(gemm, tile_sums, fetched,
                                                                                 rows, first_column, group);
}

/// Bytes of shared memory.
template <class Engine, int kStages>
struct SharedSizes {
  static constexpr int kStage = (Engine::kTileRows + Engine::kTileColumns) * kStageRowBytes;
  static constexpr int kTile = Engine::kTileRows * (Engine::kTileColumns + kTilePadding) * 4;
  static constexpr int kRingOrTile = kStages * kStage > kTile ? kStages* kStage : kTile;
  /// Per multiprocessor: of 9.0, or the minimum of 8.0 to 8.9.
  static constexpr int kOfMultiprocessor = (Engine::kIsAsync ? 227 : 99) * 1024;
  /// The maximum of a launch. A residual may use what the ring leaves of a block's share.
  template <int kBlocksPerSm>
  static constexpr int kMax =
      kRingOrTile > kOfMultiprocessor / kBlocksPerSm - 2048 ? kRingOrTile
                                                            : kOfMultiprocessor / kBlocksPerSm - 2048;
};

/// Raises the kernel's shared memory limit once per device; later calls cost one load. `allowed`: one word
/// per kernel, one bit per device.
template <typename Kernel>
cudaError_t allow_shared_bytes(Kernel kernel, int bytes, std::atomic<unsigned long long>& allowed) {
  int device = 0;
  cudaError_t status = cudaGetDevice(&device);
  if (status != cudaSuccess) return status;
  const unsigned long long bit = device < 64 ? 1ull << device : 0;
  if ((allowed.load(std::memory_order_relaxed) & bit) != 0) return cudaSuccess;
  status = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (status == cudaSuccess) allowed.fetch_or(bit, std::memory_order_relaxed);
  return status;
}

/// Shared memory of one block: the tile or as much of the ring as K fills, then the residual if it fits
/// without reducing occupancy.
template <class Engine, int kStages, int kBlocksPerSm>
int place_in_shared(ImplicitGemm& gemm) {
  using Sizes = SharedSizes<Engine, kStages>;
  constexpr int kResidualBytes =
      Engine::kTileRows * Engine::kTileColumns * static_cast<int>(sizeof(typename Engine::Element));
  const int stages = gemm.blocks_per_split < kStages ? gemm.blocks_per_split : kStages;
  const int bytes = stages * Sizes::kStage > Sizes::kTile ? stages * Sizes::kStage : Sizes::kTile;
  gemm.residual_place = bytes;
  gemm.residual_in_shared = gemm.residual.data != nullptr && gemm.vectorised && gemm.splits_k == 1 &&
                            bytes + kResidualBytes <= Sizes::template kMax<kBlocksPerSm>;
  return bytes + (gemm.residual_in_shared ? kResidualBytes : 0);
}

template <class Engine, int kStages, int kBlocksPerSm>
cudaError_t launch_tile(const ImplicitGemm& sized, cudaStream_t stream) {
  static std::atomic<unsigned long long> allowed{0};
  const auto kernel = implicit_gemm_kernel<Engine, kStages, kBlocksPerSm>;
  const cudaError_t status =
      allow_shared_bytes(kernel, SharedSizes<Engine, kStages>::template kMax<kBlocksPerSm>, allowed);
  if (status != cudaSuccess) return status;
  ImplicitGemm gemm = sized;
  const int shared_bytes = place_in_shared<Engine, kStages, kBlocksPerSm>(gemm);
  const int tiles_down = (gemm.rows + Engine::kTileRows - 1) / Engine::kTileRows;
  const int tiles_across = (gemm.columns + Engine::kTileColumns - 1) / Engine::kTileColumns;
  const dim3 grid(static_cast<unsigned>(tiles_down) * static_cast<unsigned>(tiles_across),
                  static_cast<unsigned>(gemm.splits_k), static_cast<unsigned>(gemm.groups));
  return launch_kernel(gemm.may_start_early, kernel, grid, Engine::kThreads,
                       static_cast<std::size_t>(shared_bytes), stream, gemm);
}

template <class Engine, int kStages, int kBlocksPerSm>
constexpr Tile tile_of(float block_ns, float latency_ns, float fixed_ns) {
  return {{Engine::kTileRows, Engine::kTileColumns, Engine::kThreads, kStages, kBlocksPerSm, block_ns,
           latency_ns, fixed_ns},
          launch_tile<Engine, kStages, kBlocksPerSm>,
          nullptr,
          SharedSizes<Engine, kStages>::kRingOrTile};
}

}  // namespace rangefinder::kernels
