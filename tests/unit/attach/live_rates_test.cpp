// SPDX-License-Identifier: Apache-2.0
#include "tools/attach/live_rates.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

using namespace rangefinder;
using Json = nlohmann::json;

namespace {

Json delta(double seconds, Json modules) {
  return {{"event", "delta"}, {"duration_ns", seconds * 1e9}, {"modules", std::move(modules)}};
}

Json module(const char* path, double gpu_ms, double kernels) {
  return {{"path", path}, {"gpu_ns", gpu_ms * 1e6}, {"kernels", kernels}};
}

}  // namespace

TEST_CASE("the values of an interval are given per second") {
  LiveRates rates;
  rates.add(1, delta(2, {module("m", 100, 50), module("m/a", 60, 20), module("n", 300, 10)}));

  const auto rows = rates.rows("", LiveOrder::gpu_time);

  REQUIRE(rows.size() == 2);
  CHECK(rows[0].path == "n");
  CHECK(rows[0].gpu_ms_per_s == Approx(150));
  CHECK(rows[0].share == Approx(0.75));
  CHECK(rows[1].launches_per_s == Approx(25));
  CHECK_FALSE(rows[0].dram_gb_per_s.has_value());
  CHECK(rates.rows("", LiveOrder::launches)[0].path == "m");
  CHECK(rates.rows("", LiveOrder::name)[0].path == "m");
}

TEST_CASE("a level below shows the modules directly in it, and a slash in a name is no level") {
  LiveRates rates;
  rates.add(1, delta(1, {module("m", 9, 1), module("m/a", 5, 1), module("m/a/deep", 2, 1),
                         module(R"(m/b\/c)", 3, 1), module("mm/x", 1, 1)}));

  const auto rows = rates.rows("m", LiveOrder::gpu_time);

  REQUIRE(rows.size() == 2);
  CHECK(rows[0].path == "m/a");
  CHECK(rows[1].path == R"(m/b\/c)");
}

TEST_CASE("processes add up, over the longest of their intervals") {
  LiveRates rates;
  const Json gpu = {{"peak_dram_bytes_per_s", 4e12}};
  for (const int pid : {1, 2}) {
    Json event = delta(1, {module("m", 500, 10)});
    event["modules"][0]["dram_read_bytes"] = 3e11;
    event["modules"][0]["dram_write_bytes"] = 1e11;
    event["gpus"] = Json::array({gpu});
    event["loss"] = {{"events_dropped", 2}};
    rates.add(pid, event);
  }

  const auto rows = rates.rows("", LiveOrder::dram);

  REQUIRE(rows.size() == 1);
  CHECK(rows[0].gpu_ms_per_s == Approx(1000));
  CHECK(rows[0].dram_gb_per_s.value_or(0) == Approx(800));
  CHECK(rows[0].peak_share.value_or(0) == Approx(0.1));
  CHECK(rates.lost() == 4);
}

TEST_CASE("an interval without work has no rows, and clear() starts a new interval") {
  LiveRates rates;
  rates.add(1, delta(1, {module("m", 500, 10)}));
  rates.clear();
  CHECK(rates.rows("", LiveOrder::gpu_time).empty());

  rates.add(1, {{"event", "state"}, {"state", "idle"}});
  rates.add(1, delta(1, Json::array()));

  CHECK(rates.rows("", LiveOrder::gpu_time).empty());
}

TEST_CASE("the parent path ends at a slash between names, not at one within a name") {
  CHECK(parent_path("") == "");
  CHECK(parent_path("model") == "");
  CHECK(parent_path("model/decoder/layer") == "model/decoder");
  CHECK(parent_path("model/a\\/b") == "model");
  CHECK(parent_path("model/a\\\\/b") == "model/a\\\\");
}

TEST_CASE("all_rows() has every level") {
  LiveRates rates;
  rates.add(1, delta(1, {module("a", 500, 10), module("a/b", 400, 8), module("c", 100, 1)}));

  const auto rows = rates.all_rows(LiveOrder::gpu_time);

  REQUIRE(rows.size() == 3);
  CHECK(rows[0].path == "a");
  CHECK(rows[1].path == "a/b");
  CHECK(rows[1].share == Approx(400.0 / 600));
}
