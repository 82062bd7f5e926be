// SPDX-License-Identifier: Apache-2.0
//
// Executes the network's ops. The wiring (backbone.cpp ... decoder.cpp) is written once, against this.
//
//                       +-> GpuBackend        the launchers, on one stream; may be captured into a graph
//   wiring -> Backend --+-> ReferenceBackend  the references, on host memory, fp32: what CI runs
//                       +-> MeasuringBackend  no memory: bytes of each module, size of the arena
//
// Ops take the kernels' own argument structs; the backend fills in their workspaces. An op that fails
// throws std::runtime_error with its name. One thread. A backend knows nothing of modules or NVTX.
#pragma once

#include <cstddef>

#include "kernels/min_bytes.h"  // brings the arguments of every op
#include "kernels/workspace.h"

namespace rangefinder::rtdetr {

enum class AttentionMode { flash, unfused };
enum class DeformableMode { fused, unfused };

/// A point between two ops of a pass. The default is the beginning of the pass.
struct BranchPoint {
  int number = -1;
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual void run(const kernels::ConvolutionArgs& args) = 0;
  virtual void run(const kernels::GemmArgs& args) = 0;
  virtual void run(const kernels::StemArgs& args) = 0;
  virtual void run_max_pool(const kernels::PoolArgs& args) = 0;
  virtual void run_average_pool(const kernels::PoolArgs& args) = 0;
  virtual void run(const kernels::LayerNormArgs& args) = 0;
  virtual void run(const kernels::AttentionArgs& args, AttentionMode mode) = 0;
  virtual void run(const kernels::DeformableAttentionArgs& args, DeformableMode mode) = 0;
  virtual void run(const kernels::TopKArgs& args) = 0;
  virtual void run(const kernels::GatherArgs& args) = 0;
  virtual void run(const kernels::BoxRefinementArgs& args) = 0;
  virtual void run(const kernels::PreprocessArgs& args) = 0;
  virtual void run(const kernels::PostprocessArgs& args) = 0;

  /// Branches. In a captured graph, the ops between begin_branch() and end_branch() run concurrently with
  /// others. They wait for the ops before `point` and for earlier branches; only ops after join_branches()
  /// wait for them. Their memory must not be reused before the join. Outside capture, and in other backends,
  /// ops run in call order, so that a profile shows one module at a time.
  virtual BranchPoint branch_point() { return {}; }
  virtual void begin_branch(BranchPoint) {}
  virtual void end_branch() {}
  virtual void join_branches() {}

  /// Memory owned by this backend, 256-byte aligned. Must not be called during capture.
  virtual void* allocate(std::size_t bytes) = 0;
  /// Copies to and from host memory, in order with the ops. Both return when the host may reuse its memory.
  /// Neither may be called during capture.
  virtual void upload(const void* host, void* target, std::size_t bytes) = 0;
  virtual void download(const void* source, void* host, std::size_t bytes) = 0;
};

}  // namespace rangefinder::rtdetr
