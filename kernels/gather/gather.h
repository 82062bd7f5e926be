// SPDX-License-Identifier: Apache-2.0
//
// Gathers rows by index:  out[b,i,:] = source[b, indices[b,i], :]. Copies bytes of any type.
//
// An index outside [0, source_rows) reads nothing and gives a row of 0xFF bytes (NaN in every floating
// type), so a wrong index is visible. Refuses (cudaErrorInvalidValue): row bytes or strides that are not a
// multiple of 4.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace rangefinder::kernels {

struct GatherArgs {
  int images = 0;
  int source_rows = 0;    ///< rows of an image in source
  int gathered_rows = 0;  ///< rows of an image in output
  int row_bytes = 0;
  const void* source = nullptr;           ///< (images, source_rows)
  std::int64_t source_stride_bytes = 0;   ///< between rows; 0: row_bytes
  std::int64_t source_image_bytes = 0;    ///< between images; 0: source_rows rows
  const std::int32_t* indices = nullptr;  ///< (images, gathered_rows)
  void* output = nullptr;                 ///< (images, gathered_rows), packed
};

cudaError_t launch_gather(const GatherArgs& args, cudaStream_t stream);
void gather_reference(const GatherArgs& args);  ///< host memory

}  // namespace rangefinder::kernels
