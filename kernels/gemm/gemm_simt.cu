// SPDX-License-Identifier: Apache-2.0
//
// fp32 on CUDA cores: fp32 fused multiply-adds in the order of K.
#include "kernels/gemm/engine_simt.cuh"
#include "kernels/gemm/implicit_gemm_kernel.cuh"

namespace rangefinder::kernels {

TileList simt_tiles() {
  static constexpr Tile kTiles[] = {
      tile_of<SimtEngine<128, 128, 16, 16>, 3, 1>(11000, 3000, 5000),
      tile_of<SimtEngine<64, 64, 16, 16>, 3, 2>(3000, 2000, 3000),
      tile_of<SimtEngine<32, 64, 8, 16>, 3, 3>(1600, 1500, 2500),
  };
  return {kTiles, static_cast<int>(sizeof kTiles / sizeof kTiles[0])};
}

}  // namespace rangefinder::kernels
