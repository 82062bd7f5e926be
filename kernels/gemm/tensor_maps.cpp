// SPDX-License-Identifier: Apache-2.0
#include "kernels/gemm/tensor_maps.h"

#include <algorithm>

namespace rangefinder::kernels {
namespace {

constexpr int kMapDimensions = 4;  // channels, x, y, image
constexpr unsigned kBoxChannels = 64;

using EncodeTiled = CUresult (*)(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                 const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                 CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                 CUtensorMapFloatOOBfill);

/// The driver's function, looked up once; nullptr if the driver has none. Not linked, so that programs start
/// without a driver.
EncodeTiled encode_tiled() {
  static const EncodeTiled found = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
    const cudaError_t status = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                                cudaEnableDefault, &result);
    return status == cudaSuccess && result == cudaDriverEntryPointSuccess
               ? reinterpret_cast<EncodeTiled>(function)
               : nullptr;
  }();
  return found;
}

struct MapSizes {
  cuuint64_t dimensions[kMapDimensions];
  cuuint64_t strides[kMapDimensions - 1];  // bytes
  cuuint32_t box[kMapDimensions];
  cuuint32_t steps[kMapDimensions];
};

bool encode(ElementType element, const void* data, const MapSizes& sizes, CUtensorMap& map) {
  const CUtensorMapDataType type =
      element == ElementType::fp16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  return encode_tiled()(&map, type, kMapDimensions, const_cast<void*>(data), sizes.dimensions, sizes.strides,
                        sizes.box, sizes.steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                        CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

cuuint64_t chunk_bytes(std::int64_t chunks) {
  return static_cast<cuuint64_t>(chunks) * kChunkBytes;
}

/// Sizes for an input with `chunks` channel chunks whose pixels are read with this stride.
MapSizes input_sizes(const PatchGrid& grid, int chunks, int pixel_step, int line_step, int image_step,
                     int width, int height, int stride) {
  const auto step = static_cast<cuuint32_t>(stride);
  const auto box_width = static_cast<cuuint32_t>(grid.box_width);
  const auto box_height = static_cast<cuuint32_t>(grid.box_height);
  MapSizes sizes{};
  sizes.dimensions[0] = static_cast<cuuint64_t>(chunks) * 8;
  sizes.dimensions[1] = static_cast<cuuint64_t>(width);
  sizes.dimensions[2] = static_cast<cuuint64_t>(height);
  sizes.dimensions[3] = static_cast<cuuint64_t>(grid.images);
  sizes.strides[0] = chunk_bytes(pixel_step);
  sizes.strides[1] = chunk_bytes(line_step);
  sizes.strides[2] = chunk_bytes(image_step);
  sizes.box[0] = kBoxChannels;
  sizes.box[1] = (box_width - 1) * step + 1;
  sizes.box[2] = (box_height - 1) * step + 1;
  sizes.box[3] = 1;
  sizes.steps[0] = sizes.steps[3] = 1;
  sizes.steps[1] = grid.box_width > 1 ? step : 1;
  sizes.steps[2] = grid.box_height > 1 ? step : 1;
  return sizes;
}

}  // namespace

PatchGrid patches_for(const ImplicitGemm& gemm, int tile_rows) {
  PatchGrid grid;
  const auto is_gapless = [&](int image_step, int pixel_step) {
    return image_step == gemm.pixels * pixel_step;
  };
  grid.images = gemm.rows / gemm.pixels;
  grid.is_flat = gemm.kernel_size == 1 && gemm.stride == 1 &&
                 (grid.images == 1 ||
                  (is_gapless(gemm.image_step, gemm.pixel_step) &&
                   (gemm.second_chunks == 0 || is_gapless(gemm.second_image_step, gemm.second_pixel_step))));
  if (grid.is_flat) {
    grid.images = 1;
    grid.width = gemm.rows;
    grid.box_width = tile_rows;
    grid.across = (gemm.rows + tile_rows - 1) / tile_rows;
    return grid;
  }
  grid.width = gemm.output_width;
  grid.height = gemm.pixels / gemm.output_width;
  int fewest = 0;
  for (int width = 1; width <= std::min(tile_rows, grid.width); ++width) {
    const int height = std::min(tile_rows / width, grid.height);
    const int across = (grid.width + width - 1) / width;
    const int down = (grid.height + height - 1) / height;
    // Among equal counts take the widest: longer contiguous runs of memory.
    if (fewest != 0 && across * down > fewest) continue;
    fewest = across * down;
    grid.box_width = width;
    grid.box_height = height;
    grid.across = across;
    grid.down = down;
  }
  return grid;
}

bool can_map(const ImplicitGemm& gemm) {
  return gemm.groups == 1 && gemm.row_valid == nullptr && gemm.alternate_input == nullptr &&
         gemm.channel_chunks % kBlockChunks == 0 && gemm.second_chunks % kBlockChunks == 0 &&
         encode_tiled() != nullptr;
}

cudaError_t make_tensor_maps(ElementType element, const ImplicitGemm& gemm, const PatchGrid& grid,
                             int tile_columns, TensorMaps& maps) {
  if (encode_tiled() == nullptr) return cudaErrorNotSupported;
  const int width = grid.is_flat ? gemm.rows : gemm.input_width;
  const int height = grid.is_flat ? 1 : gemm.input_height;
  const int line_step = grid.is_flat ? gemm.pixel_step * width : gemm.line_step;
  const MapSizes input = input_sizes(grid, gemm.channel_chunks, gemm.pixel_step, line_step,
                                     grid.is_flat ? line_step : gemm.image_step, width, height, gemm.stride);
  bool is_encoded = encode(element, gemm.input, input, maps.input);
  if (gemm.second_chunks > 0) {
    const int line = gemm.second_pixel_step * grid.width;
    const MapSizes second =
        input_sizes(grid, gemm.second_chunks, gemm.second_pixel_step, line,
                    grid.is_flat ? line : gemm.second_image_step, grid.width, grid.height, 1);
    is_encoded = is_encoded && encode(element, gemm.second_input, second, maps.second_input);
  }
  PatchGrid rows;
  rows.box_width = tile_columns;
  const int weight_chunks = gemm.weight_row_step * gemm.columns;
  const MapSizes weight = input_sizes(rows, gemm.depth_chunks(), gemm.weight_row_step, weight_chunks,
                                      weight_chunks, gemm.columns, 1, 1);
  is_encoded = is_encoded && encode(element, gemm.weight, weight, maps.weight);
  return is_encoded ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace rangefinder::kernels
