// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/layer_report.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tools/rangefinder/layer_summary_reader.h"

using namespace rangefinder;
using nlohmann::json;

namespace {

json module(const char* path, int depth, std::uint64_t gpu_ns) {
  return {{"path", path}, {"depth", depth}, {"calls", 50}, {"kernels", 100}, {"gpu_ns", gpu_ns}};
}

json summary() {
  return {{"final", true},
          {"process", {{"counters", "off"}}},
          {"modules",
           {module("model", 1, 8'000'000), module("model/head", 2, 2'000'000),
            module("model/body", 2, 6'000'000)}},
          {"outside", {{"kernels", 4}, {"gpu_ns", 2'000'000}}},
          {"memcpy", {{{"kind", "HtoD"}, {"count", 90}}, {{"kind", "DtoH"}, {"count", 6}}}},
          {"loss", json::object()}};
}

std::string report_of(const json& summary, const LayerReportStyle& style) {
  return layer_report(read_layer_summary(summary), style);
}

std::size_t position(const std::string& text, const std::string& part) {
  return text.find(part);
}

}  // namespace

TEST_CASE("paths come heaviest first with their share of all GPU time") {
  const std::string text = report_of(summary(), {});

  CHECK(position(text, "model ") < position(text, "model/body"));
  CHECK(position(text, "model/body") < position(text, "model/head"));
  CHECK(text.find("80.0 %") != std::string::npos);
  CHECK(text.find("8.00 ms") != std::string::npos);
  CHECK(text.find("(outside of any range)") != std::string::npos);
}

TEST_CASE("the last line has the counts and the next command") {
  LayerReportStyle style;
  style.folder = "rangefinder-4711";

  const std::string text = report_of(summary(), style);

  CHECK(text.ends_with(
      "104 kernels, 96 copies, 0 records lost.  Next:  rangefinder report rangefinder-4711\n"));
}

TEST_CASE("every loss is shown with its meaning") {
  json input = summary();
  input["loss"] = {{"events_dropped", 41207}, {"nvtx_unclosed", 1}, {"new_cause", 3}, {"names_folded", 0}};

  const std::string text = report_of(input, {});

  CHECK(text.find("41,207  events_dropped: host events dropped") != std::string::npos);
  CHECK(text.find("1  nvtx_unclosed: ") != std::string::npos);
  CHECK(text.find("3  new_cause") != std::string::npos);
  CHECK(text.find("names_folded") == std::string::npos);
  CHECK(text.find("0 records lost") == std::string::npos);
}

TEST_CASE("byte columns are shown only if bytes were measured") {
  json input = summary();
  CHECK(report_of(input, {}).find("DRAM read") == std::string::npos);

  input["modules"][0]["dram_read_bytes"] = 12'300'000'000;
  input["modules"][0]["dram_write_bytes"] = 0;
  input["modules"][0]["l2_bytes"] = 31'000'000'000;
  const std::string text = report_of(input, {});

  CHECK(text.find("DRAM read") != std::string::npos);
  CHECK(text.find("12.3 GB") != std::string::npos);
  CHECK(text.find(" 0 B") != std::string::npos);
}

TEST_CASE("a sum that lacks launches is marked with +") {
  json input = summary();
  input["modules"][0]["dram_read_bytes"] = 1'000;
  input["modules"][0]["unmeasured_launches"] = 2;

  const std::string text = report_of(input, {});

  CHECK(text.find("1.00 kB+") != std::string::npos);
  CHECK(text.find("+: a lower bound") != std::string::npos);
}

TEST_CASE("error, share of peak and limiter are shown beside the bytes if known") {
  json input = summary();
  CHECK(report_of(input, {}).find("±") == std::string::npos);
  json& module = input["modules"][0];
  module["dram_read_bytes"] = 1'000'000;
  module["dram_write_bytes"] = 0;
  module["bytes_source"] = "sampled";
  module["bytes_error_pct"] = 2.14;
  module["dram_peak_share"] = 0.412;
  module["limiter"] = "dram";

  const std::string text = report_of(input, {});

  CHECK(text.find("DRAM ±") != std::string::npos);
  CHECK(text.find(" 2.1 %") != std::string::npos);
  CHECK(text.find("41.2 %") != std::string::npos);
  CHECK(text.find(" dram\n") != std::string::npos);
  CHECK(text.find("+: a lower bound") == std::string::npos);
}

TEST_CASE("sampled bytes whose error is above 100 % have no number") {
  json input = summary();
  json& module = input["modules"][0];
  module["dram_read_bytes"] = 5'000;
  module["dram_write_bytes"] = 1'000'000;
  module["l2_bytes"] = 7'000'000;
  module["bytes_source"] = "sampled";
  module["bytes_error_pct"] = 1234.5;
  module["dram_read_error_pct"] = 101.2;
  module["dram_write_error_pct"] = 99.0;
  module["dram_peak_share"] = 0.412;

  const std::string text = report_of(input, {});

  CHECK(text.find("5.00 kB") == std::string::npos);
  CHECK(text.find("41.2 %") == std::string::npos);
  CHECK(text.find("1.00 MB") != std::string::npos);
  CHECK(text.find("7.00 MB") != std::string::npos);
  CHECK(text.find(" too short ") != std::string::npos);
  CHECK(text.find("\n–: the error bound is above 100 %") != std::string::npos);
}

TEST_CASE("exact bytes have a mark where carry-over is above 10 % of the traffic, and no error column") {
  json input = summary();
  json& module = input["modules"][0];
  module["dram_read_bytes"] = 600'000;
  module["dram_write_bytes"] = 400'000;
  module["bytes_source"] = "exact";
  module["carry_over_bytes"] = 100'000;
  CHECK(report_of(input, {}).find("†") == std::string::npos);
  module["carry_over_bytes"] = 100'001;

  const std::string text = report_of(input, {});

  CHECK(text.find("400 kB†") != std::string::npos);
  CHECK(text.find("600 kB†") == std::string::npos);
  CHECK(text.find("\n†: ") != std::string::npos);
  CHECK(text.find("±") == std::string::npos);
}

TEST_CASE("bytes that lack launches or time are marked with +, estimated ones are not") {
  json input = summary();
  input["modules"][0]["dram_read_bytes"] = 1'000;
  input["modules"][0]["launches"] = 9;
  CHECK(report_of(input, {}).find("1.00 kB+") != std::string::npos);
  input["modules"][0]["bytes_estimated"] = true;
  CHECK(report_of(input, {}).find("1.00 kB+") == std::string::npos);
  input["modules"][1]["dram_read_bytes"] = 2'000;
  input["modules"][1]["sampled_share"] = 0.97;
  CHECK(report_of(input, {}).find("2.00 kB+") != std::string::npos);
}

TEST_CASE("the report says how sampled bytes were shared, and shows unattributed bytes") {
  json input = summary();
  input["modules"][0]["dram_read_bytes"] = 1'000;
  input["samples"] = {{"count", 5'000},
                      {"method", {{"dram_read_bytes", "live"}, {"l2_bytes", "live"}}},
                      {"unattributed", {{"dram_read_bytes", 41'000'000}, {"dram_write_bytes", 0}}}};

  const std::string shared = report_of(input, {});
  CHECK(shared.find("(unattributed)") != std::string::npos);
  CHECK(shared.find("41.0 MB") != std::string::npos);
  CHECK(shared.find("5,000 hardware samples, shared while the program ran") != std::string::npos);
  input["samples"]["method"]["l2_bytes"] = "unmixed";
  CHECK(report_of(input, {}).find("fitted over iterations") != std::string::npos);
}

TEST_CASE("copies of known size show how accurate the bytes are") {
  json input = summary();
  CHECK(report_of(input, {}).find("known size") == std::string::npos);
  input["truth"] = {{"copies", 12}, {"known_bytes", 1000}, {"measured_bytes", 1001}};

  CHECK(report_of(input, {}).find("Copies of known size: 12, measured 100.1 % of their bytes.\n") !=
        std::string::npos);
}

TEST_CASE("refused counters are reported with the reason") {
  json input = summary();
  input["process"] = {{"counters", "refused"}, {"counters_reason", "no permission"}};

  CHECK(report_of(input, {}).find("not measured: no permission") != std::string::npos);
}

TEST_CASE("commands can be typed: they name the folder, quoted") {
  json input = summary();
  input["monitor"] = {{"windows", 6}, {"window_ns", 10}, {"observed_ns", 100}};
  LayerReportStyle style;
  style.folder = "a trace";

  const std::string text = report_of(input, style);

  CHECK(text.find("rangefinder report 'a trace' --section monitor\n") != std::string::npos);
  CHECK(text.find("Next:  rangefinder report 'a trace'\n") != std::string::npos);
  style.next = false;
  CHECK(report_of(input, style).find("Next:") == std::string::npos);
}

TEST_CASE("the number of rows is limited, and the report gives the total") {
  LayerReportStyle style;
  style.rows = 1;

  const std::string text = report_of(summary(), style);

  CHECK(text.find("model/body") == std::string::npos);
  CHECK(text.find("(the 1 heaviest of 3 paths)") != std::string::npos);
}

TEST_CASE("an invalid summary gives a short report and no exception") {
  for (const char* const text :
       {"null", "[]", "{}", "3", R"({"modules":3,"loss":[1],"outside":"x"})",
        R"({"modules":[1,null,{"path":5,"depth":"x","gpu_ns":-4}],"memcpy":{"a":1}})"}) {
    CHECK(report_of(json::parse(text), {}).find("0 records lost") != std::string::npos);
  }
}

TEST_CASE("lines fit in the requested width") {
  json input = summary();
  input["modules"][1]["path"] = "model/" + std::string(300, 'x');
  LayerReportStyle style;
  style.width = 60;

  const std::string text = report_of(input, style);

  const std::string first = text.substr(0, text.find("\n\n"));
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = first.find('\n', begin)) != std::string::npos; begin = end + 1) {
    CHECK(end - begin <= 62);  // "…" is three bytes and one column
  }
}
