// SPDX-License-Identifier: Apache-2.0
//
// Sampled bytes in the module table and in the summary that `run` completes.
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/unit/analysis/queries/module_text.h"
#include "tests/unit/analysis/validate/validated.h"
#include "tests/unit/base/text_parts.h"
#include "tools/analysis/validate/summary_rewrite.h"

using namespace rangefinder;
using test::line_of;
using test::TraceOnDisk;
using Json = nlohmann::json;

namespace {

// Kernels of `model` (1000 to 3000 ns) and of `model/layer/0` (3000 to 4000 ns), a sample every
// 1000 ns from 0: the first is before all work.
struct SampledOnDisk : TraceOnDisk {
  SampledOnDisk() {
    SamplesRecord samples;
    samples.runs = {{0, 4'000, 4}};
    samples.columns[kSampleDramRead] = {100, 2'000, 2'000, 1'000};
    samples.columns[kSampleDramWrite] = {10, 20, 20, 5};
    samples.columns[kSampleL2] = {200, 4'000, 4'000, 2'000};
    lines[kFlush] = line_of(samples);
    change_end([](EndRecord& end) { end.records.emplace_back("samples", 1); });
  }
  void write_summary(const char* counters) const {
    write();
    const Json summary{
        {"schema", "rangefinder.summary"},
        {"version", "1.0"},
        {"final", true},
        {"process", {{"counters", counters}}},
        {"modules", Json::array()},
        {"outside", Json::object()},
        {"kernels", {{{"name", "void gemm<float>(float*, int)"}, {"library", "own"}, {"count", 2}}}},
        {"findings", Json::array()}};
    write_summary(summary);
  }
  void write_summary(const Json& summary) const { std::ofstream(folder.path() / "summary.json") << summary; }
  [[nodiscard]] Json summary() const {
    std::ifstream stream(folder.path() / "summary.json");
    return Json::parse(stream);
  }
};

}  // namespace

TEST_CASE("sampled and unattributed bytes add up to the samples' bytes") {
  const SampledOnDisk trace;
  trace.write();
  WholeTrace whole(open_trace_folder(trace.folder.path()), {});
  const TraceTotals& totals = whole.totals();
  const RowValues& values = whole.values();

  REQUIRE(values.sampled() != nullptr);
  const std::vector<PathTotals> rows = totals.totals.paths();
  const RowBytes model = values.bytes(rows[0]), layer = values.bytes(rows[1]);
  CHECK(model.source == RowBytes::Source::sampled);
  CHECK(model.read + values.sampled()->samples.unattributed[kSharedDramRead] == 32 * 5'100);
  CHECK(model.l2 + values.sampled()->samples.unattributed[kSharedL2] == 32 * 10'200);
  CHECK(layer.read < model.read);
  CHECK(model.error_pct().has_value());

  test::check_has(test::module_text(trace), {"DRAM read", "DRAM ±", "(unattributed)"});
}

TEST_CASE("a summary gets the sampled bytes of its trace, and agrees with it afterwards") {
  const SampledOnDisk trace;
  trace.write_summary("sampled");

  CHECK(complete_summary(trace.folder.path()).empty());

  const Json summary = trace.summary();
  REQUIRE(summary["modules"].size() == 2);
  CHECK(summary["modules"][0]["path"] == "model");
  CHECK(summary["modules"][0]["bytes_source"] == "sampled");
  CHECK(summary["modules"][0].contains("bytes_error_pct"));
  const auto all = summary["samples"]["all"]["dram_read_bytes"].get<std::uint64_t>();
  CHECK(all == 32 * 5'100);
  CHECK(summary["modules"][0]["dram_read_bytes"].get<std::uint64_t>() +
            summary["samples"]["unattributed"]["dram_read_bytes"].get<std::uint64_t>() ==
        all);
  CHECK(summary["outside"]["kernels"] == 0);
  CHECK(summary["kernels"][0]["bytes_source"] == "sampled");
  CHECK_FALSE(std::filesystem::exists(trace.folder.path() / "summary.json.tmp"));
}

TEST_CASE("bytes estimated for lost samples are not part of the samples' bytes") {
  SampledOnDisk trace;
  SamplesRecord before, after;
  before.runs = {{0, 2'000, 2}};
  before.columns[kSampleL2] = {200, 4'000};
  after.runs = {{3'000, 4'000, 1}};  // the previous one is missing
  after.columns[kSampleL2] = {2'000};
  trace.lines[TraceOnDisk::kFlush] = line_of(before) + line_of(after);
  trace.change_end([](EndRecord& end) { end.records.emplace_back("samples", 2); });
  trace.write_summary("sampled");
  REQUIRE(complete_summary(trace.folder.path()).empty());
  Json summary = trace.summary();

  CHECK(summary["samples"]["all"]["l2_bytes"] == 32 * 6'200);
  const auto estimated = summary["samples"]["estimated"]["l2_bytes"].get<std::uint64_t>();
  CHECK(estimated == 32 * 4'000);  // half of `model` was sampled
  CHECK(summary["modules"][0]["bytes_estimated"] == true);
  CHECK(summary["modules"][0]["sampled_share"] == 0.6667);
  CHECK(summary["modules"][0]["l2_bytes"].get<std::uint64_t>() +
            summary["samples"]["unattributed"]["l2_bytes"].get<std::uint64_t>() ==
        32 * 6'200 + estimated);
  const std::string text = test::module_text(trace);
  test::check_has(text, {"no samples were taken"});
  test::check_lacks(text, {"+: lower bound"});

  summary["kernels"][0]["total_ns"] = 3'000;
  trace.write_summary(summary);
  CHECK(test::shown(test::check(trace)).empty());
  summary["samples"]["estimated"]["l2_bytes"] = estimated + 1;
  trace.write_summary(summary);
  CHECK(test::only_kind(test::check(trace)) == "summary");
}

TEST_CASE("a summary of any counters gets the modules of the report") {
  SampledOnDisk trace;
  trace.lines[TraceOnDisk::kFlush].clear();
  trace.write_summary("exact");

  CHECK(complete_summary(trace.folder.path()).empty());

  const Json summary = trace.summary();
  REQUIRE(summary["modules"].size() == 2);
  CHECK(summary["modules"][1]["path"] == "model/layer\\/0");
  CHECK(summary["version"] == kSummaryVersion);
  CHECK_FALSE(summary.contains("live"));
}

TEST_CASE("a summary that cannot be completed stays unchanged, and the reason is returned") {
  SampledOnDisk trace;
  const char* const counters = GENERATE("sampled", "exact");
  std::uint64_t max_bytes = kMaxBytesToRead;
  SECTION("a trace that is too large") {
    max_bytes = 100;
  }
  SECTION("a program that was killed") {
    trace.lines[TraceOnDisk::kEnd].clear();
  }
  SECTION("lines that are missing") {
    trace.change_end(
        [](EndRecord& end) { end.loss[static_cast<std::size_t>(Loss::lines_over_max_size)] = 1; });
  }
  SECTION("a file that is no trace") {
    trace.lines = {"{}\n"};
  }
  trace.write_summary(counters);
  const Json before = trace.summary();

  CHECK_FALSE(complete_summary(trace.folder.path(), max_bytes).empty());

  CHECK(trace.summary() == before);
}

TEST_CASE("a folder without a summary stays unchanged") {
  const SampledOnDisk trace;
  trace.write();
  CHECK(complete_summary(trace.folder.path()).empty());
  CHECK_FALSE(std::filesystem::exists(trace.folder.path() / "summary.json"));
}

TEST_CASE("a sampled byte that is lost or invented is found") {
  const SampledOnDisk trace;
  trace.write_summary("sampled");
  REQUIRE(complete_summary(trace.folder.path()).empty());
  Json summary = trace.summary();
  summary["kernels"][0]["total_ns"] = 3'000;
  trace.write_summary(summary);
  REQUIRE(test::shown(test::check(trace)).empty());
  for (const std::string place : {"/modules/0/dram_read_bytes", "/samples/unattributed/l2_bytes",
                                  "/samples/all/dram_write_bytes", "/samples/count"}) {
    INFO(place);
    Json changed = summary;
    Json& number = changed[Json::json_pointer(place)];
    number = number.get<std::uint64_t>() + 1;
    trace.write_summary(changed);

    CHECK(test::only_kind(test::check(trace)) == "summary");
  }
}
