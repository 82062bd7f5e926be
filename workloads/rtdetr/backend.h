// SPDX-License-Identifier: Apache-2.0
//
// Where the network's ops go. The wiring (backbone.cpp ... decoder.cpp) is written once, against this.
//
//                       +-> GpuBackend        the launchers, on one stream; may be captured into a graph
//   wiring -> Backend --+-> ReferenceBackend  the references, on host memory, fp32: what CI runs
//                       +-> MeasuringBackend  no memory at all: bytes of each module, size of the arena
//
// Ops take the kernels' own argument structs; workspaces in them are the backend's to fill in. An op that
// fails throws std::runtime_error with its name. One thread. A backend knows nothing of modules or NVTX.
#pragma once

#include <cstddef>

#include "kernels/min_bytes.h"  // brings the arguments of every op
#include "kernels/workspace.h"

namespace rangefinder::rtdetr {

enum class AttentionMode { flash, unfused };
enum class DeformableMode { fused, unfused };

/// A moment between two ops of a pass. The default one is its beginning.
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
  virtual void run(const kernels::UpsampleConcatArgs& args) = 0;
  virtual void run(const kernels::LayerNormArgs& args) = 0;
  virtual void run(const kernels::AttentionArgs& args, AttentionMode mode) = 0;
  virtual void run(const kernels::DeformableAttentionArgs& args, DeformableMode mode) = 0;
  virtual void run(const kernels::TopKArgs& args) = 0;
  virtual void run(const kernels::GatherArgs& args) = 0;
  virtual void run(const kernels::BoxRefinementArgs& args) = 0;
  virtual void run(const kernels::PreprocessArgs& args) = 0;
  virtual void run(const kernels::PostprocessArgs& args) = 0;

  /// In a captured graph the ops between begin_branch() and end_branch() run beside others: they wait for
  /// what came before `point` and for earlier branches, and only what comes behind join_branches() waits
  /// for them. Elsewhere, and in other backends, ops follow each other in the order of the calls, so
  /// that a profile shows one module at a time. Their memory must not be reused before the join.
  virtual BranchPoint branch_point() { return {}; }
  virtual void begin_branch(BranchPoint) {}
  virtual void end_branch() {}
  virtual void join_branches() {}

  /// Memory of this backend, 256-byte aligned, given back with the backend. Never while capturing.
  virtual void* allocate(std::size_t bytes) = 0;
  /// To and from host memory, in order with the ops; both return when the host may use its memory again
  /// and neither may be called while capturing.
  virtual void upload(const void* host, void* target, std::size_t bytes) = 0;
  virtual void download(const void* source, void* host, std::size_t bytes) = 0;
};

}  // namespace rangefinder::rtdetr
