// SPDX-License-Identifier: Apache-2.0
#include "profiler/output/summary.h"

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "profiler/attribution/sample_sharing.h"
#include "schema/key_names.h"
#include "tests/catch.h"
#include "tests/unit/output/summary_tables.h"
#include "tests/unit/schema/example_trace.h"

using namespace rangefinder;
using namespace rangefinder::summary_tables;
using Json = nlohmann::ordered_json;

namespace {

// Feeds the records of the example trace, as the drain thread and the tools do.
struct FromLines {
  Tables& tables;
  SampleSharing& sharing;
  template <typename Record>
  void operator()(const Record& record) {
    if constexpr (requires { tables.totals.add(record); }) tables.totals.add(record);
    if constexpr (requires { sharing.add(record); }) sharing.add(record);
  }
  void operator()(const CategoryRecord& record) { tables.totals.add_category(record); }
  void operator()(const PathRecord& record) { tables.path(record); }
  void operator()(const KernelNameRecord& record) { tables.kernels[record.id] = record; }
};

}  // namespace

TEST_CASE("the example trace gives the example summary, byte for byte") {
  Tables tables;
  SampleSharing sharing;
  EndRecord end;
  std::uint64_t records = 0;
  ConditionTotals conditions;
  for (const Line& line : example::lines()) {
    if (const auto* const record = std::get_if<ConditionRecord>(&line)) conditions.add(*record);
    std::visit(FromLines{tables, sharing}, line);
    if (const auto* const last = std::get_if<EndRecord>(&line)) end = *last;
    records += is_event(line_kind(line)) ? 1 : 0;
  }
  sharing.finish();
  SummaryInput input = tables.input();
  conditions.end(100'000);
  input.records = records;
  input.conditions = &conditions;
  input.samples = &sharing;
  input.loss = end.loss;
  input.own_cost = end.own_cost;
  input.final = true;

  const std::string text = summary_json(input);

  CHECK(example::example_file("summary.json", text) == text);
}

TEST_CASE("modules have their joined path and their totals, parents first") {
  Tables tables;
  tables.path({1, 0, 0, "model"});
  tables.path({2, 1, 0, "layers/0"});
  tables.totals.add(kernel(2, 0, 10));

  const Json modules = tables.json()["modules"];

  REQUIRE(modules.size() == 2);
  CHECK(
      modules[0].dump() ==
      R"({"path":"model","depth":1,"calls":0,"kernels":1,"gpu_ns":10,"gpu_ns_exclusive":0,"gpu_busy_ns":10,)"
      R"("host_ns":0,"time_source":"activity"})");
  CHECK(modules[1]["path"] == "model/layers\\/0");
}

TEST_CASE("a value that was not measured is absent, never 0") {
  Tables tables;
  tables.path({1, 0, 0, "unmeasured"});
  tables.path({2, 0, 0, "empty"});
  tables.totals.add(exact(1, false));
  RangeRecord range;
  range.path = 2;
  tables.totals.add(range);

  const Json modules = tables.json()["modules"];

  for (const char* key : {"gpu_ns", "gpu_busy_ns", "time_source", "l2_bytes", "bytes_source"}) {
    CHECK_FALSE(modules[0].contains(key));
  }
  CHECK(modules[0]["unmeasured_launches"] == 1);
  CHECK(modules[1]["gpu_ns"] == 0);  // no kernel: a true 0
  CHECK_FALSE(modules[1].contains("unmeasured_launches"));
}

TEST_CASE("time comes from records and bytes from exact lines; without records there is no time") {
  Tables tables;
  tables.path({1, 0, 0, "records"});
  tables.path({2, 0, 0, "lines"});
  tables.path({3, 0, 0, "both"});
  tables.totals.add(kernel(1, 0, 10));
  tables.totals.add(exact(2, true));
  tables.totals.add(exact(3, true, 5));
  tables.totals.add(kernel(3, 0, 10, 1, 5));

  const Json summary = tables.json();
  const Json modules = summary["modules"];

  CHECK(modules[0]["time_source"] == "activity");
  CHECK_FALSE(modules[0].contains("bytes_source"));
  for (const char* key : {"gpu_ns", "gpu_busy_ns", "time_source"}) CHECK_FALSE(modules[1].contains(key));
  CHECK(modules[1]["l2_bytes"] == 64);
  CHECK(modules[1]["dram_read_bytes"] == 0);  // measured, and 0
  CHECK(modules[1]["bytes_source"] == "exact");
  CHECK(modules[2]["kernels"] == 1);
  CHECK(modules[2]["gpu_ns"] == 10);
  CHECK(modules[2]["time_source"] == "activity");
  CHECK(modules[2]["measured_launches"] == 1);
  CHECK_FALSE(modules[2].contains("launches"));  // all of them were measured
  CHECK(summary["kernels"][0]["count"] == 2);
  CHECK(summary["kernels"][0]["total_ns"] == 20);
}

TEST_CASE("work outside of any range is not among the modules") {
  Tables tables;
  tables.totals.add(kernel(0, 0, 10));

  const Json summary = tables.json();

  CHECK(summary["modules"].empty());
  CHECK(summary["outside"]["gpu_ns"] == 10);
  CHECK_FALSE(summary["outside"].contains("path"));
}

TEST_CASE("the process and its GPUs have the keys of their trace lines, without line keys such as t") {
  const Json summary = Tables{}.json();

  CHECK(summary["process"]["host"] == "node-1");
  CHECK(summary["process"]["base_unix_ns"] == "1763712000123456789");
  CHECK(summary["gpus"][0]["name"] == "NVIDIA H200");
  for (const char* key : {"t", "schema", "version", "segment"}) CHECK_FALSE(summary["process"].contains(key));
  CHECK_FALSE(summary["gpus"][0].contains("t"));
}

TEST_CASE("names with any bytes give valid UTF-8, the same as in the trace") {
  Tables tables;
  tables.path({1, 0, 0, "a\xff\"\n\xE6\xA8"});
  tables.kernels[1] = {1, "", "k\xC0\xAF", "own\x80", ""};
  tables.totals.add(kernel(1, 0, 10));

  const Json summary = tables.json();

  CHECK(summary["modules"][0]["path"] == "a\xEF\xBF\xBD\"\n\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(summary["kernels"][0]["name"] == "k\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("a kernel without a name is called (unknown)") {
  Tables tables;
  tables.totals.add(kernel(0, 0, 10, 99));

  CHECK(tables.json()["kernels"][0]["name"] == "(unknown)");
}

TEST_CASE("all kernels after the heaviest 1000 share one last row") {
  Tables tables;
  for (std::uint32_t name = 1; name <= 1003; ++name) {
    tables.kernels[name] = {name, "", std::to_string(name), "own", "x"};
    tables.totals.add(kernel(0, 0, 10 + name, name));
  }

  const Json kernels = tables.json()["kernels"];

  REQUIRE(kernels.size() == 1001);
  CHECK(kernels[0]["name"] == "1003");
  CHECK(kernels[999]["name"] == "4");
  CHECK(kernels[1000].dump() ==
        R"j({"name":"(other)","library":"","count":3,"total_ns":36,"min_ns":11,"max_ns":13})j");
}

TEST_CASE("a summary holds the losses that happened and the whole own cost") {
  const Tables tables;
  SummaryInput input = tables.input();
  input.loss[static_cast<std::size_t>(Loss::events_dropped)] = 4;
  input.own_cost.exact_ns = 5;

  const Json summary = Json::parse(summary_json(input));

  CHECK(summary["loss"].dump() == R"({"events_dropped":4})");
  CHECK(summary["own_cost"].size() == kOwnCostKeys.size());
  CHECK(summary["own_cost"]["exact_ns"] == 5);
  CHECK(summary["findings"].is_array());
}

TEST_CASE("a summary of 20,000 modules is written row by row") {
  Tables tables;
  for (std::uint32_t id = 1; id <= 20'000; ++id) {
    tables.path({id, id > 1 ? id / 2 : 0, 0, std::to_string(id)});
    tables.totals.add(kernel(id, id, id + 5));
  }

  CHECK(tables.json()["modules"].size() == 20'000);
}
