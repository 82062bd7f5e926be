// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"
#include "workloads/rtdetr/execution.h"
#include "workloads/rtdetr/host_backends.h"

using namespace rangefinder::rtdetr;

TEST_CASE("a module declares its children's bytes, for one call of several") {
  const auto backend = make_reference_backend();
  Arena arena(nullptr, 0);
  ModuleLedger ledger;
  Execution execution{*backend, arena, ledger, rangefinder::kernels::ElementType::fp16};
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
