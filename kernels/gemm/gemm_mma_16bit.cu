// SPDX-License-Identifier: Apache-2.0
//
// fp16 and bf16 on tensor cores with mma.sync, the same tiles for both.
#include "kernels/gemm/engine_mma.cuh"
#include "kernels/gemm/implicit_gemm_kernel.cuh"

namespace rangefinder::kernels {

TileList mma_tiles_tf32();  // gemm_mma_tf32.cu

namespace {

template <typename Element, int kRows, int kColumns, int kWarpsDown, int kWarpsAcross>
using Engine = MmaEngine<Element, Element, kRows, kColumns, kWarpsDown, kWarpsAcross>;

// Costs are fitted to a sweep, as in gemm_wgmma.cu.
template <typename Element>
constexpr Tile kTiles[] = {
    tile_of<Engine<Element, 128, 128, 2, 4>, 3, 2>(697, 637, 6047),
    tile_of<Engine<Element, 128, 64, 4, 2>, 3, 2>(512, 672, 2829),
    tile_of<Engine<Element, 64, 64, 2, 2>, 4, 3>(342, 563, 1986),
    tile_of<Engine<Element, 64, 32, 2, 2>, 4, 4>(251, 335, 1945),
    tile_of<Engine<Element, 32, 32, 2, 2>, 4, 6>(180, 380, 1411),
};

template <typename Element>
TileList list() {
  return {kTiles<Element>, static_cast<int>(sizeof kTiles<Element> / sizeof kTiles<Element>[0])};
}

}  // namespace

TileList mma_tiles(ElementType element) {
  switch (element) {
    case ElementType::tf32:
      return mma_tiles_tf32();
    case ElementType::fp16:
      return list<__half>();
    case ElementType::bf16:
      return list<__nv_bfloat16>();
    case ElementType::fp32:
      break;
  }
  return {};
}

}  // namespace rangefinder::kernels
