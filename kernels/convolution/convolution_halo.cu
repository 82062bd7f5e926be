// SPDX-License-Identifier: Apache-2.0
//
// 3x3 convolutions with few channels (32 or 64 in, up to 64 out), fp16 and bf16, stride 1: the stem and
// the first stage. An implicit GEMM reads each pixel nine times from L2; this kernel reads it once.
//
//   weights   all 9 taps stay in shared memory for every tile of the block
//   patch     (kLines + 2) x 18 pixels in shared memory give kLines x 16 output pixels
//   product   ldmatrix takes 16 pixels of one line, shifted by the tap: rows of A need not be adjacent
//   epilogue  that of the implicit GEMM; its tile reuses the patch's shared memory
//
// 16-byte chunks are swizzled within 128 bytes as in tile_loader.cuh, so ldmatrix has no bank conflicts.
// Bytes: input once plus its halo (1.4 times at 8 lines, 1.27 at 16), output once.
#include "kernels/gemm/engine_mma.cuh"
#include "kernels/gemm/implicit_gemm_kernel.cuh"

namespace rangefinder::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kTileWidth = 16;  // output pixels
constexpr int kPatchWidth = kTileWidth + 2;
constexpr int kTaps = 9;

/// Swizzled byte offset of chunk `chunk` of row `row`; a row has kRowChunks chunks.
template <int kRowChunks>
__device__ __forceinline__ unsigned swizzled(int row, int chunk) {
  constexpr int kRowsIn128 = 8 / kRowChunks;
  return static_cast<unsigned>((row * kRowChunks + (chunk ^ (row / kRowsIn128 % kRowChunks))) * kChunkBytes);
}

template <typename MemoryElement, int kInputs, int kOutputs>
struct HaloTile {
  using Element = MemoryElement;
  static constexpr int kChunks = kInputs / 8;         // per pixel
  static constexpr int kWarpsAcross = kOutputs / 32;  // a warp owns 32 pixels and 32 outputs
  static constexpr int kLines = 2 * (kThreads / 32) / kWarpsAcross;
  static constexpr int kPixels = kLines * kTileWidth;
  static constexpr int kPatchPixels = (kLines + 2) * kPatchWidth;
  static constexpr int kWeightBytes = kTaps * kOutputs * kChunks * kChunkBytes;
  static constexpr int kPatchBytes = kPatchPixels * kChunks * kChunkBytes;
  static constexpr int kSumBytes = kPixels * (kOutputs + kTilePadding) * 4;
  static constexpr int kSharedBytes = kWeightBytes + (kPatchBytes > kSumBytes ? kPatchBytes : kSumBytes);
};

/// Position of a tile of output pixels.
struct Place {
  int image, line, column;
};

template <class Tile>
__device__ Place place_of(const ImplicitGemm& gemm, int tile) {
  const int height = gemm.input_height;
  const int across = (gemm.output_width + kTileWidth - 1) / kTileWidth;
  const int down = (height + Tile::kLines - 1) / Tile::kLines;
  const int image = tile / (across * down);
  const int rest = tile - image * across * down;
  return {image, rest / across * Tile::kLines, rest % across * kTileWidth};
}

template <class Tile>
__device__ void load_weights(const ImplicitGemm& gemm, unsigned weights, int outputs) {
  constexpr int kRowChunks = kTaps * Tile::kChunks;
  for (int i = static_cast<int>(threadIdx.x); i < outputs * kRowChunks; i += kThreads) {
    const int output = i / kRowChunks;
    const int tap = i % kRowChunks / Tile::kChunks;
    const int chunk = i % Tile::kChunks;
    const bool is_valid = output < gemm.columns;
    const std::int64_t from =
        is_valid ? static_cast<std::int64_t>(output) * gemm.weight_row_step + tap * Tile::kChunks + chunk : 0;
    copy_chunk_async(weights + swizzled<Tile::kChunks>(tap * outputs + output, chunk),
                     static_cast<const char*>(gemm.weight) + from * kChunkBytes, is_valid);
  }
}

template <class Tile>
__device__ void load_patch(const ImplicitGemm& gemm, unsigned patch, const Place& place) {
  for (int i = static_cast<int>(threadIdx.x); i < Tile::kPatchPixels * Tile::kChunks; i += kThreads) {
    const int pixel = i / Tile::kChunks;
    const int chunk = i % Tile::kChunks;
    const int y = place.line + pixel / kPatchWidth - 1;
    const int x = place.column + pixel % kPatchWidth - 1;
    const bool is_valid = y >= 0 && y < gemm.input_height && x >= 0 && x < gemm.input_width;
    const std::int64_t from = is_valid ? std::int64_t{place.image} * gemm.image_step + y * gemm.line_step +
                                             x * gemm.pixel_step + chunk
                                       : 0;
    copy_chunk_async(patch + swizzled<Tile::kChunks>(pixel, chunk),
                     static_cast<const char*>(gemm.input) + from * kChunkBytes, is_valid);
  }
}

/// Sums of this warp: 2 lines of 16 pixels by 32 outputs, in MmaEngine's layout.
template <class Tile, int kOutputs>
__device__ void multiply_patch(unsigned patch, unsigned weights, float (&sums)[32]) {
  using Element = typename Tile::Element;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int line = warp / Tile::kWarpsAcross * 2;
  const int output = warp % Tile::kWarpsAcross * 32 + (lane & 7) + ((lane >> 4) << 3);
#pragma unroll 3
  for (int tap = 0; tap < kTaps; ++tap) {
    const int pixel = (line + tap / 3) * kPatchWidth + tap % 3 + (lane & 15);
#pragma unroll
    for (int step = 0; step < Tile::kChunks / 2; ++step) {
      unsigned a[2][4];
      unsigned b[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        load_matrices(a[i], patch + swizzled<Tile::kChunks>(pixel + i * kPatchWidth, 2 * step + (lane >> 4)));
        load_matrices(b[i], weights + swizzled<Tile::kChunks>(tap * kOutputs + output + i * 16,
                                                              2 * step + ((lane >> 3) & 1)));
      }
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          multiply_add(Element{}, sums + (i * 4 + j) * 4, a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
  }
}

/// Applies bias, residual and activation to one tile and stores it; `sums` in shared memory.
template <class Tile, int kOutputs>
__device__ void store_patch(const ImplicitGemm& gemm, const float* sums, const Place& place) {
  using Element = typename Tile::Element;
  constexpr int kVectors = kOutputs / kVector;
  const int column = static_cast<int>(threadIdx.x) % kVectors * kVector;
  if (column >= gemm.columns) return;
  const EpilogueColumns<Element> columns(gemm, column, 0);
  for (int row = static_cast<int>(threadIdx.x) / kVectors; row < Tile::kPixels; row += kThreads / kVectors) {
    const int y = place.line + row / kTileWidth;
    const int x = place.column + row % kTileWidth;
    if (y >= gemm.input_height || x >= gemm.output_width) continue;
    const int pixel = y * gemm.output_width + x;
    float residual[kVector] = {};
    if (columns.residual != nullptr)
      widen_some(columns.residual + place.image * gemm.residual.image_step + pixel * gemm.residual.pixel_step,
                 columns.count, columns.is_whole, residual);
    finish_row(gemm, columns, sums + row * (kOutputs + kTilePadding) + column, place.image, pixel, residual);
  }
}

template <class Tile, int kOutputs>
__global__ void __launch_bounds__(kThreads, 2)
    convolution_halo_kernel(const __grid_constant__ ImplicitGemm gemm, int tiles) {
  using Layout = MmaEngine<typename Tile::Element, typename Tile::Element, Tile::kPixels, kOutputs,
                           kThreads / 32 / Tile::kWarpsAcross, Tile::kWarpsAcross>;
  extern __shared__ __align__(kSharedAlignment) unsigned char shared[];
  const unsigned weights = shared_address(shared);
  const unsigned patch = weights + Tile::kWeightBytes;
  float* const tile_sums = reinterpret_cast<float*>(shared + Tile::kWeightBytes);
  allow_successor();
  load_weights<Tile>(gemm, weights, kOutputs);
  wait_for_predecessor();
  for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += static_cast<int>(gridDim.x)) {
    const Place place = place_of<Tile>(gemm, tile);
    load_patch<Tile>(gemm, patch, place);
    commit_copies();
    wait_for_copies<0>();
    __syncthreads();
    float sums[Layout::kAccumulators] = {};
    multiply_patch<Tile, kOutputs>(patch, weights, sums);
    __syncthreads();  // the sums overwrite the patch
    Layout::to_tile(sums, tile_sums);
    __syncthreads();
    store_patch<Tile, kOutputs>(gemm, tile_sums, place);
    __syncthreads();
  }
}

template <typename Element, int kInputs, int kOutputs>
cudaError_t launch_halo(const ImplicitGemm& gemm, cudaStream_t stream) {
  using Tile = HaloTile<Element, kInputs, kOutputs>;
  static std::atomic<unsigned long long> allowed{0};
  cudaError_t status =
      allow_shared_bytes(convolution_halo_kernel<Tile, kOutputs>, Tile::kSharedBytes, allowed);
  if (status != cudaSuccess) return status;
  const int across = (gemm.output_width + kTileWidth - 1) / kTileWidth;
  const int down = (gemm.input_height + Tile::kLines - 1) / Tile::kLines;
  const int tiles = gemm.rows / gemm.pixels * across * down;
  const int max_blocks = 2 * gemm.multiprocessors;
  const unsigned blocks = static_cast<unsigned>(tiles < max_blocks ? tiles : max_blocks);
  return launch_kernel(gemm.may_start_early, convolution_halo_kernel<Tile, kOutputs>, blocks, kThreads,
                       Tile::kSharedBytes, stream, gemm, tiles);
}

template <int kInputs, int kOutputs>
bool serves(const ImplicitGemm& gemm) {
  return gemm.kernel_size == 3 && gemm.stride == 1 && gemm.channel_chunks * 8 == kInputs &&
         gemm.second_chunks == 0 && gemm.columns <= kOutputs && gemm.columns > kOutputs - 32;
}

template <typename Element, int kInputs, int kOutputs>
constexpr Tile tile(float block_ns, float latency_ns, float fixed_ns) {
  using Halo = HaloTile<Element, kInputs, kOutputs>;
  return {{Halo::kPixels, kOutputs, kThreads, 1, 2, block_ns, latency_ns, fixed_ns, true},
          launch_halo<Element, kInputs, kOutputs>,
          serves<kInputs, kOutputs>,
          Halo::kSharedBytes,
          false};
}

// Costs are fitted to a sweep, as in gemm_wgmma.cu.
template <typename Element>
constexpr Tile kTiles[] = {
    tile<Element, 32, 32>(245, 99, 4104),
    tile<Element, 32, 64>(400, 14, 1800),
    tile<Element, 64, 64>(373, 130, 2609),
};

}  // namespace

TileList halo_tiles(ElementType element) {
  if (element == ElementType::fp16) return {kTiles<__half>, 3};
  if (element == ElementType::bf16) return {kTiles<__nv_bfloat16>, 3};
  return {};
}

}  // namespace rangefinder::kernels
