// SPDX-License-Identifier: Apache-2.0
//
// The k rows of each image whose maximum over the columns is greatest.
//
//   key[b,r] = max_c scores[b,r,c]         order: key descending, then row ascending; NaN ranks last
//   indices[b,i] = row of the i-th in that order, i in [0, k)
//
// Equal keys never make the result depend on scheduling: the selection is a function of the keys.
// RT-DETR's queries: columns = labels. Its final detections: columns = 1 over queries * labels.
//
// Refuses (cudaErrorInvalidValue): k > rows, k > 1024, rows > 65536.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace rangefinder::kernels {

struct TopKArgs {
  int images = 0;
  int rows = 0;
  int columns = 1;
  int k = 0;
  const float* scores = nullptr;    ///< (images, rows, columns)
  std::int32_t* indices = nullptr;  ///< (images, k)
  float* keys = nullptr;            ///< (images, k): the keys of `indices`, or nullptr
  void* workspace = nullptr;        ///< top_k_workspace_bytes(); any content
};

std::size_t top_k_workspace_bytes(const TopKArgs& args);

cudaError_t launch_top_k(const TopKArgs& args, cudaStream_t stream);
void top_k_reference(const TopKArgs& args);  ///< host memory; std::partial_sort by the same order

}  // namespace rangefinder::kernels
