// SPDX-License-Identifier: Apache-2.0
//
// The backend that launches kernels on one stream of one GPU, and the graph captured from it.
//
// Between begin_capture() and end_capture() ops only launch: nothing allocates, copies to pageable memory or
// synchronises. So the capture mode can be cudaStreamCaptureModeGlobal.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "workloads/rtdetr/backend.h"

namespace rangefinder::rtdetr {

/// True if there is a GPU of compute capability 8.0 or more; otherwise `why` is the reason.
bool gpu_is_usable(std::string& why);

/// A failed CUDA call or launcher: its name and CUDA's reason.
class GpuError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

class GpuBackend final : public Backend {
 public:
  GpuBackend();
  ~GpuBackend() override;
  GpuBackend(const GpuBackend&) = delete;
  GpuBackend& operator=(const GpuBackend&) = delete;

  void run(const kernels::ConvolutionArgs& args) override;
  void run(const kernels::GemmArgs& args) override;
  void run(const kernels::StemArgs& args) override;
  void run_max_pool(const kernels::PoolArgs& args) override;
  void run_average_pool(const kernels::PoolArgs& args) override;
  void run(const kernels::LayerNormArgs& args) override;
  void run(const kernels::AttentionArgs& args, AttentionMode mode) override;
  void run(const kernels::DeformableAttentionArgs& args, DeformableMode mode) override;
  void run(const kernels::TopKArgs& args) override;
  void run(const kernels::GatherArgs& args) override;
  void run(const kernels::BoxRefinementArgs& args) override;
  void run(const kernels::PreprocessArgs& args) override;
  void run(const kernels::PostprocessArgs& args) override;

  BranchPoint branch_point() override;
  void begin_branch(BranchPoint point) override;
  void end_branch() override;
  void join_branches() override;

  void* allocate(std::size_t bytes) override;
  void upload(const void* host, void* target, std::size_t bytes) override;
  void download(const void* source, void* host, std::size_t bytes) override;

  cudaStream_t stream() const;
  void begin_capture();
  /// Instantiates the captured work. Throws GpuError with the name of the failed call.
  void end_capture();
  void launch_graph();
  void synchronize();
  /// GPU milliseconds of each of `count` calls of `work`, without a pause between them. `work` must only
  /// launch; the host waits once, at the end.
  std::vector<float> time_each(int count, const std::function<void()>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rangefinder::rtdetr
