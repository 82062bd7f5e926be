// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/summary_check.h"

#include <fstream>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/analysis/validate/validated.h"

using namespace rangefinder;
using test::check;
using test::only_kind;
using test::shown;
using test::TraceOnDisk;

namespace {

nlohmann::json true_summary() {
  return {{"schema", "rangefinder.summary"},
          {"version", "1.0"},
          {"final", true},
          {"modules",
           {{{"path", "model"},
             {"calls", 1},
             {"kernels", 2},
             {"gpu_ns", 3000},
             {"gpu_ns_exclusive", 2000},
             {"host_ns", 450}},
            {{"path", "model/layer\\/0"},
             {"calls", 1},
             {"kernels", 1},
             {"gpu_ns", 1000},
             {"gpu_ns_exclusive", 1000},
             {"host_ns", 250}}}},
          {"outside", {{"kernels", 0}}},
          {"kernels", {{{"name", "void gemm<float>(float*, int)"}, {"count", 2}, {"total_ns", 3000}}}}};
}

void write_summary(const TraceOnDisk& trace, const nlohmann::json& summary) {
  std::ofstream(trace.folder.path() / "summary.json") << summary;
}

}  // namespace

TEST_CASE("a valid summary agrees with its trace") {
  const TraceOnDisk trace;
  write_summary(trace, true_summary());

  const Validation result = check(trace);

  INFO(shown(result));
  CHECK(result.valid());
  CHECK(result.notes.empty());
}

TEST_CASE("a summary that differs from its trace is found") {
  const nlohmann::json copy = {{"kind", "HtoD"}, {"src", "pinned"}, {"dst", "device"},
                               {"count", 1},     {"bytes", 64},     {"total_ns", 9}};
  const std::vector<std::pair<std::string, nlohmann::json>> differences{
      {"/modules/1/gpu_ns", 1001},        {"/modules/0/kernels", 3},
      {"/modules/1/path", "model/other"}, {"/outside/dram_read_bytes", 5},             // not measured
      {"/kernels/0/total_ns", 1},         {"/memcpy", nlohmann::json::array({copy})},  // the trace has none
      {"/loss", {{"events_dropped", 3}}}, {"/samples", {{"count", 10}, {"idle", 0}}},
      {"", nlohmann::json::array()}};
  for (const auto& [place, value] : differences) {
    INFO(place);
    const TraceOnDisk trace;
    nlohmann::json summary = true_summary();
    summary[nlohmann::json::json_pointer(place)] = value;
    write_summary(trace, summary);

    CHECK(only_kind(check(trace)) == "summary");
  }
}

TEST_CASE("a summary with names that reports read since is not compared") {
  const TraceOnDisk trace;
  nlohmann::json old = true_summary();
  old["version"] = "1.2";
  old["modules"].push_back({{"path", "XlaCompile:#module=jit_step#"}, {"calls", 3}});
  write_summary(trace, old);

  const Validation result = check(trace);

  CHECK(result.valid());
  REQUIRE(result.notes.size() == 1);
  CHECK(result.notes.front().find("finalize") != std::string::npos);
}

TEST_CASE("a summary from before the end is not compared") {
  const TraceOnDisk trace;
  nlohmann::json summary = true_summary();
  summary["final"] = false;
  summary["modules"][0]["kernels"] = 1;
  write_summary(trace, summary);

  const Validation result = check(trace);

  CHECK(result.valid());
  CHECK(result.notes.size() == 1);
}
