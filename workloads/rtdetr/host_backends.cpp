// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/host_backends.h"

#include <cstring>

#include <new>
#include <stdexcept>

namespace rangefinder::rtdetr {
namespace {

constexpr std::align_val_t kAlignment{256};

struct AlignedDelete {
  void operator()(std::byte* data) const { ::operator delete[](data, kAlignment); }
};

class ReferenceBackend final : public Backend {
 public:
  void run(const kernels::ConvolutionArgs& args) override { kernels::convolution_reference(args); }
  void run(const kernels::GemmArgs& args) override { kernels::gemm_reference(args); }
  void run(const kernels::StemArgs& args) override { kernels::stem_reference(args); }
  void run_max_pool(const kernels::PoolArgs& args) override { kernels::max_pool_reference(args); }
  void run_average_pool(const kernels::PoolArgs& args) override { kernels::average_pool_reference(args); }
  void run(const kernels::LayerNormArgs& args) override { kernels::layer_norm_reference(args); }
  void run(const kernels::AttentionArgs& args, AttentionMode) override { kernels::attention_reference(args); }
  void run(const kernels::DeformableAttentionArgs& args, DeformableMode) override {
    kernels::deformable_attention_reference(args);
  }
  void run(const kernels::TopKArgs& args) override { kernels::top_k_reference(args); }
  void run(const kernels::GatherArgs& args) override { kernels::gather_reference(args); }
  void run(const kernels::BoxRefinementArgs& args) override { kernels::box_refinement_reference(args); }
  void run(const kernels::PreprocessArgs& args) override { kernels::preprocess_reference(args); }
  void run(const kernels::PostprocessArgs& args) override { kernels::postprocess_reference(args); }

  /// Filled with NaN, so that reads of uninitialised memory show in the results.
  void* allocate(std::size_t bytes) override {
    blocks_.emplace_back(static_cast<std::byte*>(::operator new[](bytes, kAlignment)));
    std::memset(blocks_.back().get(), 0xFF, bytes);
    return blocks_.back().get();
  }
  void upload(const void* host, void* target, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(target, host, bytes);
  }
  void download(const void* source, void* host, std::size_t bytes) override {
    if (bytes != 0) std::memcpy(host, source, bytes);
  }

 private:
  std::vector<std::unique_ptr<std::byte[], AlignedDelete>> blocks_;
};

class MeasuringBackend final : public Backend {
 public:
  explicit MeasuringBackend(ModuleLedger& ledger) : ledger_(ledger), addresses_(nullptr, 0) {}

  void run(const kernels::ConvolutionArgs& args) override { add(args); }
  void run(const kernels::GemmArgs& args) override { add(args); }
  void run(const kernels::StemArgs& args) override { add(args); }
  void run_max_pool(const kernels::PoolArgs& args) override { add(args); }
  void run_average_pool(const kernels::PoolArgs& args) override { add(args); }
  void run(const kernels::LayerNormArgs& args) override { add(args); }
  void run(const kernels::AttentionArgs& args, AttentionMode) override { add(args); }
  void run(const kernels::DeformableAttentionArgs& args, DeformableMode) override { add(args); }
  void run(const kernels::TopKArgs& args) override { add(args); }
  void run(const kernels::GatherArgs& args) override { add(args); }
  void run(const kernels::BoxRefinementArgs& args) override { add(args); }
  void run(const kernels::PreprocessArgs& args) override { add(args); }
  void run(const kernels::PostprocessArgs& args) override { add(args); }

  void* allocate(std::size_t bytes) override { return addresses_.allocate(bytes); }
  void upload(const void*, void*, std::size_t) override {}
  void download(const void*, void*, std::size_t) override {
    throw std::logic_error("a measuring pass has no results to download");
  }

 private:
  template <typename Args>
  void add(const Args& args) {
    ledger_.add_bytes(kernels::min_bytes(args));
  }

  ModuleLedger& ledger_;
  Arena addresses_;
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() {
  return std::make_unique<ReferenceBackend>();
}

std::unique_ptr<Backend> make_measuring_backend(ModuleLedger& ledger) {
  return std::make_unique<MeasuringBackend>(ledger);
}

}  // namespace rangefinder::rtdetr
