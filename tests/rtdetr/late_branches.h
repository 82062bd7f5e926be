// SPDX-License-Identifier: Apache-2.0
//
// A backend that runs branches as late as allowed: at the join. If the network reuses memory of a branch too
// early, or joins it too late, results differ from those of a backend that runs everything in order. On a GPU
// the effect of such a mistake depends on scheduling; here it does not.
#pragma once

#include <functional>
#include <stdexcept>
#include <vector>

#include "workloads/rtdetr/backend.h"

namespace rangefinder::rtdetr {

class LateBranches final : public Backend {
 public:
  explicit LateBranches(Backend& inner) : inner_(inner) {}

  void run(const kernels::ConvolutionArgs& args) override { launch(args); }
  void run(const kernels::GemmArgs& args) override { launch(args); }
  void run(const kernels::StemArgs& args) override { launch(args); }
  void run(const kernels::LayerNormArgs& args) override { launch(args); }
  void run(const kernels::TopKArgs& args) override { launch(args); }
  void run(const kernels::GatherArgs& args) override { launch(args); }
  void run(const kernels::BoxRefinementArgs& args) override { launch(args); }
  void run(const kernels::PreprocessArgs& args) override { launch(args); }
  void run(const kernels::PostprocessArgs& args) override { launch(args); }
  void run_max_pool(const kernels::PoolArgs& args) override {
    later([this, args] { inner_.run_max_pool(args); });
  }
  void run_average_pool(const kernels::PoolArgs& args) override {
    later([this, args] { inner_.run_average_pool(args); });
  }
  void run(const kernels::AttentionArgs& args, AttentionMode mode) override {
    later([this, args, mode] { inner_.run(args, mode); });
  }
  void run(const kernels::DeformableAttentionArgs& args, DeformableMode mode) override {
    later([this, args, mode] { inner_.run(args, mode); });
  }

  void begin_branch(BranchPoint) override {
    if (is_branch_) throw std::logic_error("a branch inside a branch");
    is_branch_ = true;
  }
  void end_branch() override { is_branch_ = false; }
  void join_branches() override {
    for (const auto& op : waiting_) op();
    ops_in_branches_ += waiting_.size();
    waiting_.clear();
  }
  bool all_joined() const { return waiting_.empty(); }
  std::size_t ops_in_branches() const { return ops_in_branches_; }

  void* allocate(std::size_t bytes) override { return inner_.allocate(bytes); }
  void upload(const void* host, void* target, std::size_t bytes) override {
    inner_.upload(host, target, bytes);
  }
  void download(const void* source, void* host, std::size_t bytes) override {
    inner_.download(source, host, bytes);
  }

 private:
  template <typename Args>
  void launch(const Args& args) {
    later([this, args] { inner_.run(args); });
  }
  void later(std::function<void()> op) {
    if (is_branch_)
      waiting_.push_back(std::move(op));
    else
      op();
  }

  Backend& inner_;
  bool is_branch_ = false;
  std::vector<std::function<void()>> waiting_;
  std::size_t ops_in_branches_ = 0;
};

}  // namespace rangefinder::rtdetr
