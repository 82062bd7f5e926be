// SPDX-License-Identifier: Apache-2.0
//
// The overview of a page over recorded runs: its numbers are those of `report`.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "profiler/base/iteration_names.h"
#include "tests/catch.h"
#include "tests/unit/page/recorded_page.h"
#include "tools/analysis/model/trace_files.h"
#include "tools/analysis/queries/gpu_ranges.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/page/page_data.h"
#include "tools/page/shown_layers.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;
using test::recorded;
using test::SectionRun;

const Json& tables_of(const std::string& name) {
  return test::recorded_page(name).tables;
}

/// The row of a path in `report --section modules --json` over a selection.
Json module_of(const SectionRun& run, const std::string& path) {
  for (const PathTotals& row : run.trace().totals.paths()) {
    if (run.trace().path_text(row.path) == path) return module_row(row, run.trace(), *run.reading->values);
  }
  return nullptr;
}

/// `report DIR` as text, without wrapped lines.
std::string report_of(const std::string& name) {
  const SectionKind& kind = *find_section("overview", false);
  const SectionView view;
  const std::unique_ptr<Section> section = kind.make(view);
  const SectionReading reading(open_trace_folder(recorded(name)), kind, *section,
                               {.json = false, .counted = true});
  const SectionInput input{reading.trace, *reading.values, view, reading.counted.get()};
  return section->text(input, {.width = 0}) + section->ending(input, {.width = 0});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "the overview has each opening line of the report, and its findings with a link to their evidence") {
  for (const char* const name : {"decoder_sampled", "rtdetr_sampled", "case_gemm_metrics", "copy_storm"}) {
    INFO(name);
    const Json tables = tables_of(name);
    const Json& overview = tables.at("overview");
    const std::string text = report_of(name);

    CHECK(contains(text, overview.at("title").at(0).get<std::string>() + "\n"));
    REQUIRE(overview.at("lines").size() >= 2);
    for (const Json& line : overview.at("lines")) {
      const std::string label = line.at("label"), value = line.at("value"), about = line.at("about");
      INFO(label);
      CHECK(contains(text, "  " + label));
      CHECK(contains(text, value + (about.empty() ? "\n" : "   " + about + "\n")));
    }
    CHECK(contains(text, overview.at("findings").get<std::string>()));
    CHECK(contains(text, overview.at("next").at("command").get<std::string>() + "\n"));
    REQUIRE(overview.at("evidence").size() == tables.at("findings").size());
    for (std::size_t i = 0; i < tables.at("findings").size(); ++i) {
      INFO(tables.at("findings").at(i).at("title"));
      if (!tables.at("findings").at(i).value("where", "").empty())
        CHECK_FALSE(overview.at("evidence").at(i).empty());
    }
  }
}

TEST_CASE("the parts of an iteration's bar add up to its GPU time in the report") {
  for (const char* const name : {"decoder_sampled", "rtdetr_sampled", "rtdetr_exact", "case_bert_amp"}) {
    INFO(name);
    const Json strip = tables_of(name).at("overview").at("strip");
    const SectionRun report("iterations", recorded(name));
    const Table& rows = report.table("iterations");

    REQUIRE(strip.at("bars").size() == rows.rows.size());
    for (std::size_t i = 0; i < rows.rows.size(); ++i) {
      const Json& bar = strip.at("bars").at(i);
      const auto parts = bar.at("parts").get<std::vector<std::uint64_t>>();
      CHECK(static_cast<double>(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0})) ==
            report.number("iterations", i, "gpu_ns"));
      CHECK(bar.at("gpu_ns").get<double>() == report.number("iterations", i, "gpu_ns"));
      CHECK(bar.at("wall_ns").get<double>() == report.number("iterations", i, "wall_ns"));
      CHECK(bar.contains("excluded") == !report.text("iterations", i, "warm_up").empty());
    }
    const std::size_t median = strip.at("median");
    CHECK_FALSE(strip.at("bars").at(median).contains("excluded"));
  }
}

TEST_CASE("layers of a replayed graph have the bytes of the report, in all replays and in each") {
  const Json picture = tables_of("decoder_sampled").at("overview").at("picture");
  SelectionOptions counted;
  counted.iterations = {1, {}};
  const SectionRun all("modules", recorded("decoder_sampled"), {}, counted);
  const Json& layers = picture.at("layers");

  REQUIRE(layers.size() == 24);
  CHECK(picture.at("families") == Json{"decode/layer *"});
  for (const Json& layer : layers) {
    const Json row = module_of(all, layer.at("path"));
    INFO(layer.at("path"));
    for (const char* const key : {"gpu_ns", "dram_read_bytes", "dram_write_bytes", "l2_bytes"})
      CHECK(layer.at(key) == row.at(key));
  }
  const std::size_t median = picture.at("median");
  const Json& replay = picture.at("replays").at(median);
  SelectionOptions one;
  one.iterations = {replay.at("iteration").get<std::uint64_t>(),
                    replay.at("iteration").get<std::uint64_t>() + 1};
  const SectionRun of_one("modules", recorded("decoder_sampled"), {}, one);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Json row = module_of(of_one, layers.at(i).at("path"));
    const Json& cell = picture.at("heat").at("cells").at(i).at(median);
    INFO(layers.at(i).at("path"));
    CHECK(cell.at(0) ==
          row.at("dram_read_bytes").get<std::uint64_t>() + row.at("dram_write_bytes").get<std::uint64_t>());
    CHECK(100 * cell.at(1).get<double>() / cell.at(0).get<double>() ==
          Approx(row.at("bytes_error_pct").get<double>()).margin(0.01));
  }
}

TEST_CASE("exact bytes of a layer in an iteration are those of the report, and its kernels' are samples") {
  const Json picture = tables_of("rtdetr_exact").at("overview").at("picture");
  const std::size_t median = picture.at("median");
  const Json& replay = picture.at("replays").at(median);
  const auto number = replay.at("iteration").get<std::uint64_t>();
  SelectionOptions one;
  one.iterations = {number, number + 1};
  const SectionRun report("modules", recorded("rtdetr_exact"), {}, one);
  std::uint64_t of_layers = 0, of_points = 0;

  REQUIRE(picture.at("layers").size() > 10);
  for (std::size_t i = 0; i < picture.at("layers").size(); ++i) {
    const Json row = module_of(report, picture.at("layers").at(i).at("path"));
    const Json& cell = picture.at("heat").at("cells").at(i).at(median);
    INFO(row.at("path"));
    CHECK(cell.at(0) ==
          row.at("dram_read_bytes").get<std::uint64_t>() + row.at("dram_write_bytes").get<std::uint64_t>());
    of_layers += cell.at(0).get<std::uint64_t>();
  }
  const Json& points = replay.at("points");
  for (const char* const key : {"read", "write"}) {
    for (const Json& units : points.at(key)) of_points += 32 * units.get<std::uint64_t>();
  }
  CHECK(of_points >= of_layers);
}

TEST_CASE("kernels and layers of a replay lie in it, and its kernel time is that of the iteration") {
  const Json picture = tables_of("decoder_sampled").at("overview").at("picture");
  const SectionRun report("iterations", recorded("decoder_sampled"));
  std::size_t full = 0;
  for (const Json& replay : picture.at("replays")) {
    if (!replay.contains("pieces")) continue;
    ++full;
    const TimeNs length = replay.at("to").get<TimeNs>() - replay.at("from").get<TimeNs>();
    std::uint64_t gpu_ns = 0;
    for (const Json& ns : replay.at("pieces").at("ns")) gpu_ns += ns.get<std::uint64_t>();
    CHECK(static_cast<double>(gpu_ns) ==
          report.number("iterations", replay.at("iteration").get<std::size_t>(), "gpu_ns"));
    CHECK(replay.at("spans").size() == 24);
    for (const Json& span : replay.at("spans")) {
      CHECK(span.at(0).get<TimeNs>() >= 0);
      CHECK(span.at(0).get<TimeNs>() + span.at(1).get<TimeNs>() <= length);
    }
    CHECK(replay.at("points").at("start").size() > 100);
  }
  CHECK(full > 5);
}

TEST_CASE("a trace without iterations has its opening lines and no strip; one without samples no picture") {
  CHECK_FALSE(tables_of("copy_storm").at("overview").contains("picture"));
  const Json off = tables_of("rtdetr_r18").at("overview");
  CHECK(off.contains("strip"));
  CHECK_FALSE(off.contains("picture"));
}

TEST_CASE("a finding about modules that differ in a number links to one of them") {
  for (const char* const name : {"rtdetr_graph", "rtdetr_graph_b8", "decoder_sampled", "resnet_workers_0"}) {
    const Json tables = tables_of(name);
    const Json& findings = tables.at("findings");
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (findings[i].value("where", "").empty()) continue;
      INFO(name << " " << findings[i]["where"]);
      const Json& link = tables.at("overview").at("evidence")[i][0];
      CHECK(link["view"] == "modules");
      CHECK(numbers_folded(link["text"].get<std::string>()) ==
            numbers_folded(findings[i]["where"].get<std::string>()));
    }
  }
}

TEST_CASE("spans on the GPU follow the paths of consecutive work, on each stream") {
  std::vector<GpuRange> spans;
  GpuRanges ranges([&spans](const GpuRange& range) { spans.push_back(range); });
  const StreamKey one{0, 1, 7}, two{0, 1, 8};

  ranges.add(one, 0, 10, {1, 2});
  ranges.add(one, 12, 20, {1, 2});
  ranges.add(two, 15, 30, {1, 2});
  ranges.add(one, 22, 25, {1, 3});
  ranges.add(one, 40, 50, {});
  ranges.finish();

  const auto is = [](const GpuRange& range, std::uint32_t path, TimeNs start, TimeNs end) {
    return range.path == path && range.start_ns == start && range.end_ns == end;
  };
  REQUIRE(spans.size() == 5);
  CHECK(is(spans[0], 2, 0, 20));
  CHECK(is(spans[1], 3, 22, 25));
  CHECK(is(spans[2], 1, 0, 25));
  CHECK(is(spans[3], 2, 15, 30));
  CHECK(is(spans[4], 1, 15, 30));
}

}  // namespace rangefinder
