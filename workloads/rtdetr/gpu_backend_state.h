// SPDX-License-Identifier: Apache-2.0
//
// State of a GpuBackend. Only gpu_backend.cpp may include this.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "workloads/rtdetr/gpu_backend.h"

namespace rangefinder::rtdetr {

inline constexpr std::size_t kAlignmentBytes = 256;

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw GpuError(std::string(what) + " failed: " + cudaGetErrorString(status) + " (" +
                   cudaGetErrorName(status) + ")");
}

inline std::size_t rounded_up(std::size_t bytes) {
  return (bytes + kAlignmentBytes - 1) / kAlignmentBytes * kAlignmentBytes;
}

struct GpuBackend::State {
  cudaStream_t stream = nullptr;  // current stream of ops: main_stream or branch_stream
  cudaStream_t main_stream = nullptr;
  cudaStream_t branch_stream = nullptr;  // in captures only
  std::vector<cudaEvent_t> points;       // for one capture; created before it, used in order
  std::size_t points_used = 0;
  bool is_branch = false;
  cudaGraphExec_t graph = nullptr;
  bool is_capturing = false;
  std::vector<void*> blocks;
  std::byte* slab = nullptr;
  std::size_t slab_used = 0;
  // Counters, then partial sums. A branch has its own, because it may run concurrently with the rest.
  kernels::Workspace main_split_k;
  kernels::Workspace branch_split_k;
  kernels::Workspace intermediates;  // for ops of several kernels; any content

  kernels::Workspace& split_k() { return is_branch ? branch_split_k : main_split_k; }

  /// Records an event after all work submitted to `source` so far.
  cudaEvent_t record_point(cudaStream_t source) {
    if (points_used == points.size()) throw std::logic_error("a graph has more branches than expected");
    const cudaEvent_t event = points[points_used++];
    check(cudaEventRecord(event, source), "cudaEventRecord");
    return event;
  }

  void* block(std::size_t bytes) {
    if (is_capturing) throw std::logic_error("memory is allocated while a graph is captured");
    void* data = nullptr;
    check(cudaMalloc(&data, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
    blocks.push_back(data);
    return data;
  }

  /// Keeps the old block for kernels that still use it. Growth ends after the first pass.
  void grow(kernels::Workspace& workspace, std::size_t bytes) {
    if (bytes <= workspace.bytes) return;
    if (is_capturing)
      throw std::logic_error("a workspace grows while a graph is captured: run a pass before the capture");
    workspace.bytes = std::max(rounded_up(bytes), 2 * workspace.bytes);
    workspace.data = block(workspace.bytes);
    check(cudaMemsetAsync(workspace.data, 0, workspace.bytes, stream), "cudaMemset");
  }
};

}  // namespace rangefinder::rtdetr
