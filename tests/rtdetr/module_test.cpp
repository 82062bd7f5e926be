// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "tests/catch.h"
#include "workloads/rtdetr/execution.h"

using namespace rangefinder::rtdetr;

namespace {
/// Refuses every op: modules do not launch.
class NoBackend final : public Backend {
 public:
  void run(const rangefinder::kernels::ConvolutionArgs&) override { refuse(); }
  void run(const rangefinder::kernels::GemmArgs&) override { refuse(); }
  void run(const rangefinder::kernels::StemArgs&) override { refuse(); }
  void run_max_pool(const rangefinder::kernels::PoolArgs&) override { refuse(); }
  void run_average_pool(const rangefinder::kernels::PoolArgs&) override { refuse(); }
  void run(const rangefinder::kernels::LayerNormArgs&) override { refuse(); }
  void run(const rangefinder::kernels::AttentionArgs&, AttentionMode) override { refuse(); }
  void run(const rangefinder::kernels::DeformableAttentionArgs&, DeformableMode) override { refuse(); }
  void run(const rangefinder::kernels::TopKArgs&) override { refuse(); }
  void run(const rangefinder::kernels::GatherArgs&) override { refuse(); }
  void run(const rangefinder::kernels::BoxRefinementArgs&) override { refuse(); }
  void run(const rangefinder::kernels::PreprocessArgs&) override { refuse(); }
  void run(const rangefinder::kernels::PostprocessArgs&) override { refuse(); }
  void* allocate(std::size_t) override { refuse(); }
  void upload(const void*, void*, std::size_t) override { refuse(); }
  void download(const void*, void*, std::size_t) override { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("no op was expected"); }
};
}  // namespace

TEST_CASE("a module declares its children's bytes, for one call of several") {
  NoBackend backend;
  Arena arena(nullptr, 0);
  ModuleLedger ledger;
  Execution execution{backend, arena, ledger, rangefinder::kernels::ElementType::fp16};
  for (int call = 0; call < 3; ++call) {
    const Module model(execution, "model");
    const Module layer(execution, "layers.0");
    ledger.add_bytes(100);
    const Module inner(execution, "self_attn");
    ledger.add_bytes(10);
  }
  CHECK(ledger.bytes_of("model") == 0);  // unknown before the pass has ended

  ledger.stop_measuring();
  ledger.add_bytes(1000);

  CHECK(ledger.bytes_of("model") == 110);
  CHECK(ledger.bytes_of("model.layers.0") == 110);
  CHECK(ledger.bytes_of("model.layers.0.self_attn") == 10);
  CHECK(ledger.bytes_of("model.layers") == 0);  // a container, never opened as a module here
}
