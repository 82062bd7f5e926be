// SPDX-License-Identifier: Apache-2.0
//
// The layers of rtdetr_shapes.h as launches to time: operands in GPU memory, weights at any offset of a pool
// that is larger than L2, and a chosen tile and splits.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "kernels/element_type.h"

namespace rangefinder::kernel_bench {

inline constexpr std::size_t kWeightPoolBytes = std::size_t{160} << 20;  ///< larger than any L2

struct Settings {
  int batch = 1;
  kernels::ElementType element = kernels::ElementType::fp16;
  const char* sweep_file = nullptr;
  bool may_start_early = true;
};

/// Operands with small values, large enough for the largest layer; freed at the end of the program.
struct Memory {
  void *input, *second, *residual, *output, *weight, *bias, *workspace;

  explicit Memory(const Settings& settings);
};

struct Work {
  std::string name;
  bool is_convolution;
  int count;  ///< runs per forward pass
  double flops;
  std::size_t weight_bytes;
  std::size_t output_bytes;
  kernels::ElementType output_element;
  /// Tile -1 and splits 0: the launcher's choice.
  std::function<cudaError_t(std::size_t weight_offset, int tile, int splits, cudaStream_t)> launch;
};

/// All layers, convolutions first. `memory` must outlive them.
std::vector<Work> rtdetr_works(const Settings& settings, const Memory& memory);

/// Throws std::runtime_error.
void require(cudaError_t status, const char* what);

}  // namespace rangefinder::kernel_bench
