// SPDX-License-Identifier: Apache-2.0
//
// fp16 and bf16 with wgmma. For architectures other than 9.0a the kernels are empty and never launched.
#include "kernels/gemm/engine_wgmma.cuh"
#include "kernels/gemm/implicit_gemm_kernel.cuh"

namespace rangefinder::kernels {
namespace {

// Costs are fitted to a sweep over the layers of RT-DETR R50: batch 1 and 8, fp16, H200.
// The sweep is kernel_bench --sweep.
template <typename Element>
constexpr Tile kTiles[] = {
    tile_of<WgmmaEngine<Element, 2, 1, 128>, 3, 2>(687, 961, 3760),
    tile_of<WgmmaEngine<Element, 2, 1, 64>, 8, 1>(377, 332, 2518),
    tile_of<WgmmaEngine<Element, 1, 1, 128>, 4, 2>(342, 521, 3955),
    tile_of<WgmmaEngine<Element, 1, 1, 64>, 6, 2>(113, 448, 1777),
};

template <typename Element>
TileList list() {
  return {kTiles<Element>, static_cast<int>(sizeof kTiles<Element> / sizeof kTiles<Element>[0])};
}

}  // namespace

TileList wgmma_tiles(ElementType element) {
  if (element == ElementType::fp16) return list<__half>();
  if (element == ElementType::bf16) return list<__nv_bfloat16>();
  return {};
}

}  // namespace rangefinder::kernels
