// SPDX-License-Identifier: Apache-2.0
//
// fp32 memory, products in tf32 on tensor cores.
#include "kernels/gemm/engine_mma.cuh"
#include "kernels/gemm/implicit_gemm_kernel.cuh"

namespace rangefinder::kernels {
namespace {

template <int kRows, int kColumns, int kWarpsDown, int kWarpsAcross>
using Engine = MmaEngine<Tf32, float, kRows, kColumns, kWarpsDown, kWarpsAcross>;

constexpr Tile kTiles[] = {
    tile_of<Engine<128, 128, 2, 4>, 3, 1>(900, 1800, 3000),
    tile_of<Engine<128, 64, 4, 2>, 3, 2>(500, 1800, 2500),
    tile_of<Engine<64, 64, 2, 2>, 3, 3>(280, 900, 2000),
    tile_of<Engine<32, 32, 2, 2>, 4, 4>(120, 700, 2000),
};

}  // namespace

TileList mma_tiles_tf32() {
  return {kTiles, static_cast<int>(sizeof kTiles / sizeof kTiles[0])};
}

}  // namespace rangefinder::kernels
