// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/kernel_origins.h"

#include "tests/catch.h"

using namespace rangefinder;

TEST_CASE("equal lines of several paths are one origin of a kernel") {
  KernelOrigins origins;
  for (const std::uint32_t path : {4U, 9U, 4U}) {
    origins.add({7, path, "silu", "/lib/activations.py", 103});
    origins.add({7, path, "mul", "/app/model.py", 220});
  }
  origins.add({8, 4, "add", "", 0});

  REQUIRE(origins.of(7).size() == 2);
  CHECK(origins.of(7)[1].operators == "mul");
  CHECK(origins.of(7)[1].source.of_call == "/app/model.py:220");
  CHECK(origins.of(7)[1].paths.size() == 2);
  CHECK(origins.text(7) == "silu (activations.py:103); mul (model.py:220)");
  CHECK(origins.text(8) == "add");
  CHECK(origins.text(9).empty());
}

TEST_CASE("a kernel of many lines has a short text") {
  KernelOrigins origins;
  for (std::uint32_t line = 1; line <= 4; ++line) origins.add({7, 1, "mul", "/app/model.py", line});
  CHECK(origins.text(7) == "mul (model.py:1); mul (model.py:2); mul (model.py:3); 1 more line");

  origins.add({7, 1, "mul", "/app/model.py", 5});
  CHECK(origins.text(7).ends_with("; 2 more lines"));
}
