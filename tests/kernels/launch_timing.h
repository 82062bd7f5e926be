// SPDX-License-Identifier: Apache-2.0
//
// Time of one launch: replays a graph of kRepeats dependent launches, and divides the median replay by
// kRepeats. So the result includes the gap between dependent kernels of a graph, and operands come from L2 if
// they fit. A failed call ends the program. Memory is never freed.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

#include "kernels/conversion.h"

namespace rangefinder::kernel_bench {

inline constexpr int kRepeats = 20;
inline constexpr int kReplays = 25;

inline void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// Device memory that lives until the program ends.
inline void* memory(std::size_t bytes) {
  void* data = nullptr;
  require(cudaMalloc(&data, bytes), "cudaMalloc");
  require(cudaMemset(data, 0, bytes), "cudaMemset");
  return data;
}

/// `count` elements of scale * [-1, 1) + shift, repeating after a million.
inline void* random_memory(kernels::ElementType element, std::size_t count, float scale, float shift) {
  std::mt19937 generator(7);
  std::vector<float> values(std::min<std::size_t>(count, 1 << 20));
  for (float& value : values) value = (static_cast<float>(generator() >> 8) * 0x1p-23F - 1) * scale + shift;
  std::vector<std::byte> stored(count * kernels::element_bytes(element));
  for (std::size_t at = 0; at < count; at += values.size())
    kernels::convert_from_fp32(element, values.data(), stored.data() + at * kernels::element_bytes(element),
                               std::min(values.size(), count - at));
  void* const data = memory(stored.size());
  require(cudaMemcpy(data, stored.data(), stored.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  return data;
}

inline float* random_floats(std::size_t count, float scale, float shift) {
  return static_cast<float*>(random_memory(kernels::ElementType::fp32, count, scale, shift));
}

using Launch = std::function<cudaError_t(cudaStream_t)>;

inline cudaGraphExec_t graph_of(const Launch& launch, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  require(launch(stream), "launch");
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "begin capture");
  for (int i = 0; i < kRepeats; ++i) require(launch(stream), "captured launch");
  require(cudaStreamEndCapture(stream, &graph), "end capture");
  require(cudaGraphInstantiate(&executable, graph, 0), "instantiate");
  require(cudaGraphDestroy(graph), "cudaGraphDestroy");
  return executable;
}

inline void measure(const char* name, std::uint64_t bytes, const Launch& launch) {
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  require(cudaEventCreate(&begin), "cudaEventCreate");
  require(cudaEventCreate(&end), "cudaEventCreate");
  const cudaGraphExec_t graph = graph_of(launch, stream);
  std::vector<float> times_us;
  for (int i = 0; i < kReplays; ++i) {
    require(cudaEventRecord(begin, stream), "cudaEventRecord");
    require(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    require(cudaEventRecord(end, stream), "cudaEventRecord");
    require(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    times_us.push_back(ms * 1000 / kRepeats);
  }
  std::sort(times_us.begin(), times_us.end());
  const double us = static_cast<double>(times_us[times_us.size() / 2]);
  std::printf("%-34s %9.2f us %9.3f MB %8.0f GB/s\n", name, us, static_cast<double>(bytes) * 1e-6,
              static_cast<double>(bytes) * 1e-3 / us);
  require(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
  require(cudaStreamDestroy(stream), "cudaStreamDestroy");
  require(cudaEventDestroy(begin), "cudaEventDestroy");
  require(cudaEventDestroy(end), "cudaEventDestroy");
}

}  // namespace rangefinder::kernel_bench
