// SPDX-License-Identifier: Apache-2.0
//
// The boxes that TMA loads for a tile, and the tensor maps that describe them.
//
// A tile's rows are a patch of box_width x box_height output pixels of one image. A tap of the convolution
// is the same box, shifted. TMA fills pixels outside the image with zeros; the map holds the stride. A 1x1
// convolution over images without gaps is one line of all pixels: patches of box_width x 1.
#pragma once

#include <cuda.h>

#include "kernels/gemm/implicit_gemm.h"

namespace rangefinder::kernels {

struct PatchGrid {
  int box_width = 1;
  int box_height = 1;
  int width = 1;  ///< pixels per line; all rows if the product is flat
  int height = 1;
  int images = 1;
  int across = 1;  ///< patches
  int down = 1;
  bool is_flat = false;

  constexpr int count() const { return images * down * across; }
};

struct TensorMaps {
  CUtensorMap input;
  CUtensorMap second_input;
  CUtensorMap weight;
};

/// Chooses patches of at most `tile_rows` pixels that need the fewest tiles.
PatchGrid patches_for(const ImplicitGemm& gemm, int tile_rows);

/// Whether tensor maps can describe the product.
bool can_map(const ImplicitGemm& gemm);

/// cudaErrorNotSupported: the driver has no tensor maps.
cudaError_t make_tensor_maps(ElementType element, const ImplicitGemm& gemm, const PatchGrid& grid,
                             int tile_columns, TensorMaps& maps);

}  // namespace rangefinder::kernels
