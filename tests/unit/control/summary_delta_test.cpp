// SPDX-License-Identifier: Apache-2.0
#include "profiler/control/summary_delta.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "tests/catch.h"

using nlohmann::json;
using rangefinder::SummaryDelta;

namespace {

json module_of(const char* path, int calls, int gpu_ns) {
  return {{"path", path}, {"depth", 1}, {"calls", calls}, {"gpu_ns", gpu_ns}};
}

json summary_of(const std::vector<json>& modules, double duration_ns) {
  return {{"modules", modules},
          {"duration_ns", duration_ns},
          {"gpus", json::array({1})},
          {"outside", {{"kernels", 5}}},
          {"loss", json::object()}};
}

}  // namespace

TEST_CASE("the first delta is the whole summary, the next holds the changes, GPUs come once") {
  SummaryDelta delta;
  const json first = delta.next(summary_of({module_of("a", 1, 100), module_of("b", 2, 200)}, 10));
  CHECK(first["modules"].size() == 2);
  CHECK(first["modules"][1] == json{{"path", "b"}, {"depth", 1}, {"calls", 2.0}, {"gpu_ns", 200.0}});
  CHECK(first["gpus"] == json::array({1}));
  CHECK(first["outside"] == json{{"kernels", 5.0}});

  // A share of samples may shrink; unchanged values are omitted.
  const json second = delta.next(summary_of({module_of("a", 1, 90), module_of("b", 2, 200)}, 25));
  CHECK(second["modules"] == json::array({{{"path", "a"}, {"depth", 1}, {"gpu_ns", -10.0}}}));
  CHECK(second["duration_ns"] == 15.0);
  CHECK_FALSE(second.contains("gpus"));
  CHECK(second["outside"].empty());
}

TEST_CASE("a module that was absent starts at 0 again, and so does everything after reset()") {
  SummaryDelta delta;
  (void)delta.next(summary_of({module_of("a", 7, 100)}, 1));
  CHECK(delta.next(summary_of({}, 2))["modules"].empty());
  CHECK(delta.next(summary_of({module_of("a", 3, 100)}, 3))["modules"][0]["calls"] == 3.0);

  delta.reset();
  const json first = delta.next(summary_of({module_of("a", 3, 100)}, 3));
  CHECK(first["modules"][0]["calls"] == 3.0);
  CHECK(first["duration_ns"] == 3.0);
  CHECK(first.contains("gpus"));
}

TEST_CASE("a value that was not measured stays absent, and losses are reported when they grow") {
  SummaryDelta delta;
  json summary = summary_of({module_of("a", 1, 100)}, 1);
  summary["modules"][0]["l2_bytes"] = nullptr;
  summary["loss"] = {{"ring_full", 3}};
  const json first = delta.next(summary);
  CHECK_FALSE(first["modules"][0].contains("l2_bytes"));
  CHECK(first["loss"] == json{{"ring_full", 3}});

  summary["modules"][0]["l2_bytes"] = 64;
  const json second = delta.next(summary);
  CHECK(second["modules"] == json::array({{{"path", "a"}, {"depth", 1}, {"l2_bytes", 64.0}}}));
  CHECK(second["loss"].empty());
  summary["loss"]["ring_full"] = 4;
  CHECK(delta.next(summary)["loss"] == json{{"ring_full", 1}});
}

TEST_CASE("an empty summary gives no changes") {
  SummaryDelta delta;
  CHECK(delta.next(json::object())["modules"].empty());
}
