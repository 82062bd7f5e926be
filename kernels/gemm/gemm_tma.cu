// SPDX-License-Identifier: Apache-2.0
//
// fp16 and bf16 on Hopper with the tensor memory accelerator (TMA): one warp issues the loads, warpgroups
// multiply.
//
//   loading warp      wait for an empty stage -> expect bytes -> TMA loads: a patch of A, the columns of B
//   warpgroup         wait for a full stage -> wgmma -> when its products are done: the stage is empty
//   epilogue          that of the implicit GEMM
//
// Serves whole blocks of K only (channels that are multiples of 64), one set of weights, one input; other
// products use the tiles of gemm_wgmma.cu. A patch that does not fill the tile leaves some of its rows
// undefined. No other row depends on them, and they are not stored.
#include "kernels/gemm/engine_wgmma.cuh"
#include "kernels/gemm/implicit_gemm_kernel.cuh"
#include "kernels/gemm/patch_loads.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kBarrierBytes = 1024;  // before the ring, keeps the ring aligned

struct Barriers {
  unsigned full;   ///< address of the first of kStages
  unsigned empty;  ///< address of the first of kStages
};

/// Producer: one thread keeps the ring full.
template <class Engine, int kStages>
__device__ void load_all(const ImplicitGemm& gemm, const TensorMaps& maps, const Patch& patch,
                         int first_column, int first_block, int blocks, unsigned ring,
                         const Barriers& barriers) {
  constexpr int kRowsBytes = Engine::kTileRows * kStageRowBytes;
  constexpr int kStageBytes = kRowsBytes + Engine::kTileColumns * kStageRowBytes;
  const unsigned bytes = static_cast<unsigned>((patch.box_pixels + Engine::kTileColumns) * kStageRowBytes);
  const int ahead = min(kStages, blocks);
  for (int stage = 0; stage < ahead; ++stage) {
    arrive_and_expect(barriers.full + stage * 8, bytes);
    load_weight_boxes(gemm, maps, first_column, first_block + stage, ring + stage * kStageBytes + kRowsBytes,
                      barriers.full + stage * 8);
  }
  wait_for_predecessor();
  for (int stage = 0; stage < ahead; ++stage)
    load_input_boxes(gemm, maps, patch, first_block + stage, ring + stage * kStageBytes,
                     barriers.full + stage * 8);
  int stage = 0;
  unsigned parity = 0;
  for (int block = ahead; block < blocks; ++block) {
    const unsigned full = barriers.full + stage * 8;
    wait_for_phase(barriers.empty + stage * 8, parity);
    arrive_and_expect(full, bytes);
    load_input_boxes(gemm, maps, patch, first_block + block, ring + stage * kStageBytes, full);
    load_weight_boxes(gemm, maps, first_column, first_block + block, ring + stage * kStageBytes + kRowsBytes,
                      full);
    stage = stage + 1 == kStages ? 0 : stage + 1;
    parity ^= stage == 0 ? 1u : 0u;
  }
}

template <class Engine, int kStages>
__device__ __forceinline__ void multiply_all(int blocks, unsigned ring, const Barriers& barriers,
                                             float (&sums)[Engine::kAccumulators]) {
  constexpr int kStageBytes = (Engine::kTileRows + Engine::kTileColumns) * kStageRowBytes;
  int stage = 0;
  int before = 0;
  unsigned parity = 0;
#pragma unroll 1
  for (int block = 0; block < blocks; ++block) {
    wait_for_phase(barriers.full + stage * 8, parity);
    const unsigned a = ring + stage * kStageBytes;
    Engine::multiply(sums, a, a + Engine::kTileRows * kStageRowBytes);
    Engine::template wait_for_products<1>(sums);
    if (block > 0 && threadIdx.x % 128 == 0) arrive(barriers.empty + before * 8);
    before = stage;
    stage = stage + 1 == kStages ? 0 : stage + 1;
    parity ^= stage == 0 ? 1u : 0u;
  }
  Engine::template wait_for_products<0>(sums);
}

template <class Engine, int kStages, int kBlocksPerSm>
__global__ void __launch_bounds__(Engine::kThreads + 32, kBlocksPerSm)
    gemm_tma_kernel(const __grid_constant__ ImplicitGemm gemm, const __grid_constant__ TensorMaps maps,
                    const __grid_constant__ PatchGrid grid) {
  extern __shared__ __align__(kSharedAlignment) unsigned char shared[];
  if constexpr (kHasWgmma) {
    const Barriers barriers{shared_address(shared), shared_address(shared) + 8 * kStages};
    const unsigned ring = shared_address(shared) + kBarrierBytes;
    const int tiles_across = (gemm.columns + Engine::kTileColumns - 1) / Engine::kTileColumns;
    const int tile = static_cast<int>(blockIdx.x);
    const int split = static_cast<int>(blockIdx.y);
    const int first_column = tile % tiles_across * Engine::kTileColumns;
    const Patch patch(grid, tile / tiles_across);
    const int first_block = split * gemm.blocks_per_split;
    const int blocks = min(gemm.blocks_per_split, gemm.blocks_k - first_block);
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < kStages; ++stage) {
        start_barrier(barriers.full + stage * 8, 1);
        start_barrier(barriers.empty + stage * 8, Engine::kThreads / 128);
      }
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    allow_successor();
    __syncthreads();
    if (threadIdx.x >= Engine::kThreads) {
      if (threadIdx.x == Engine::kThreads)
        load_all<Engine, kStages>(gemm, maps, patch, first_column, first_block, blocks, ring, barriers);
      return;  // barriers count only the warps that have not exited
    }
    prefetch_bias<Engine::kTileColumns>(gemm, first_column);
    wait_for_predecessor();
    if (gemm.residual_in_shared)
      fetch_residual<Engine>(gemm, ring + gemm.residual_place, patch, first_column, 0);
    commit_copies();
    float sums[Engine::kAccumulators];
#pragma unroll
    for (int i = 0; i < Engine::kAccumulators; ++i) sums[i] = 0;
    multiply_all<Engine, kStages>(blocks, ring, barriers, sums);
    if (gemm.splits_k > 1 && !add_splits<Engine::kThreads>(gemm, sums, tile, split)) return;
    wait_for_copies<0>();
    __syncthreads();  // the tile overwrites the ring
    using Element = typename Engine::Element;
    float* const tile_sums = reinterpret_cast<float*>(shared + kBarrierBytes);
    Engine::to_tile(sums, tile_sums);
    __syncthreads();
    const void* const fetched =
        gemm.residual_in_shared ? shared + kBarrierBytes + gemm.residual_place : nullptr;
    store_tile<Element, Engine::kTileRows, Engine::kTileColumns, Engine::kThreads>(
        gemm, tile_sums, static_cast<const Element*>(fetched), patch, first_column, 0);
  }
}

template <class Engine, int kStages, int kBlocksPerSm, ElementType kElement>
cudaError_t launch_tma(const ImplicitGemm& sized, cudaStream_t stream) {
  static std::atomic<unsigned long long> allowed{0};
  using Sizes = SharedSizes<Engine, kStages>;
  const auto kernel = gemm_tma_kernel<Engine, kStages, kBlocksPerSm>;
  cudaError_t status =
      allow_shared_bytes(kernel, Sizes::template kMax<kBlocksPerSm> + kBarrierBytes, allowed);
  if (status != cudaSuccess) return status;
  ImplicitGemm gemm = sized;
  const PatchGrid grid = patches_for(gemm, Engine::kTileRows);
  TensorMaps maps;
  status = make_tensor_maps(kElement, gemm, grid, Engine::kTileColumns, maps);
  if (status != cudaSuccess) return status;
  const int shared_bytes = place_in_shared<Engine, kStages, kBlocksPerSm>(gemm) + kBarrierBytes;
  const int tiles_across = (gemm.columns + Engine::kTileColumns - 1) / Engine::kTileColumns;
  const dim3 blocks(static_cast<unsigned>(grid.count()) * static_cast<unsigned>(tiles_across),
                    static_cast<unsigned>(gemm.splits_k));
  return launch_kernel(gemm.may_start_early, kernel, blocks, Engine::kThreads + 32,
                       static_cast<std::size_t>(shared_bytes), stream, gemm, maps, grid);
}

template <ElementType kElement, class Engine, int kStages, int kBlocksPerSm>
constexpr Tile tile(float block_ns, float latency_ns, float fixed_ns) {
  return {{Engine::kTileRows, Engine::kTileColumns, Engine::kThreads, kStages, kBlocksPerSm, block_ns,
           latency_ns, fixed_ns, true},
          launch_tma<Engine, kStages, kBlocksPerSm, kElement>,
          can_map,
          SharedSizes<Engine, kStages>::kRingOrTile + kBarrierBytes};
}

// Costs are fitted to a sweep, as in gemm_wgmma.cu.
template <typename E, ElementType kElement>
constexpr Tile kTiles[] = {
    tile<kElement, WgmmaEngine<E, 2, 1, 256>, 4, 1>(38, 794, 8404),
    tile<kElement, WgmmaEngine<E, 2, 1, 128>, 6, 1>(240, 489, 4004),
    tile<kElement, WgmmaEngine<E, 2, 1, 128>, 3, 2>(485, 647, 4167),
    tile<kElement, WgmmaEngine<E, 2, 1, 64>, 8, 1>(88, 394, 2110),
    tile<kElement, WgmmaEngine<E, 1, 1, 128>, 4, 2>(221, 463, 4771),
    tile<kElement, WgmmaEngine<E, 1, 1, 64>, 6, 2>(33, 427, 2192),
};

}  // namespace

TileList tma_tiles(ElementType element) {
  if (element == ElementType::fp16) return {kTiles<__half, ElementType::fp16>, 6};
  if (element == ElementType::bf16) return {kTiles<__nv_bfloat16, ElementType::bf16>, 6};
  return {};
}

}  // namespace rangefinder::kernels
