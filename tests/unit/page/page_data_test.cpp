// SPDX-License-Identifier: Apache-2.0
//
// The data of a trace in the page: small traces on disk, checked as JSON before packing.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "profiler/metrics/named_metrics.h"
#include "tests/catch.h"
#include "tests/unit/analysis/model/bytes_read.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/page/recorded_page.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/page/page.h"
#include "tools/page/page_columns.h"
#include "tools/page/page_data.h"
#include "tools/page/page_tables.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

using Made = PageData;

Made made(const test::TraceOnDisk& on_disk, const PageLimits& limits = {}) {
  on_disk.write();
  WholeTrace trace(find_traces(on_disk.folder.path()).at(0), kPageColumns);
  return page_data(trace, limits);
}

/// A trace of `n` kernels of 1 us, each in its own range, one every 10 us.
void make_many_kernels(test::TraceOnDisk& out, std::uint32_t n) {
  using namespace test;
  out.lines = {line_of(header()), line_of(gpu()), line_of(path(1, 0, "step")),
               line_of(kernel_name(1, "void gemm<float>(float*, int)")), line_of(config(1))};
  for (std::uint32_t i = 1; i <= n; ++i) {
    const TimeNs at = TimeNs{i} * 10'000;
    out.lines.push_back(line_of(LaunchRecord{{at + 100, at + 200, 4711, 1, i}, "cuLaunchKernel", i}));
    out.lines.push_back(line_of(kernel(i, 1, at + 1'000, at + 2'000, i)));
    out.lines.push_back(line_of(range(i, 1, at, at + 500)));
  }
}

}  // namespace

TEST_CASE("a module's row in the page is the row of report --json, with its name and parent") {
  const test::TraceOnDisk on_disk;
  const Json modules = made(on_disk).tables.at("modules");
  WholeTrace whole(find_traces(on_disk.folder.path()).at(0), {});
  const TraceTotals& trace = whole.totals();
  const RowValues& values = whole.values();

  REQUIRE(modules.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const PathTotals row = trace.totals.paths()[i];
    const Json report = module_row(row, trace, values);
    for (const auto& [key, value] : report.items()) CHECK(modules[i][key] == value);
  }
  CHECK(modules[1]["name"] == "layer/0");
  CHECK(modules[1]["path"] == "model/layer\\/0");
  CHECK(modules[1]["parent"] == 0);
  CHECK(modules[0]["parent"] == -1);
}

TEST_CASE("the page's iterations and copies are the rows of the report") {
  for (const char* const name : {"rtdetr_exact", "hf_rtdetr_sampled", "case_gemm_metrics",
                                 "case_starved_pinned", "graph_replay", "copy_storm", "managed_memory"}) {
    INFO(name);
    const Json tables = test::recorded_page(name).tables;
    for (const auto& [of, table] : {std::pair("iterations", "iterations"),
                                    {"iterations", "iterations_summary"},
                                    {"copies", "memcpy"},
                                    {"copies", "memset"}}) {
      CAPTURE(table);
      const test::SectionRun section(of == std::string("copies") ? "memcpy" : of, test::recorded(name));
      Json rows = tables[of][table]["rows"];
      for (Json& row : rows) row.erase("texts");
      CHECK(rows == render_rows(section.table(table)));
    }
  }
}

TEST_CASE("copies by module and by size add up to those of the report, also copies of a batch") {
  for (const char* const name : {"case_overlap", "copy_storm", "hf_rtdetr_sampled"}) {
    const Json copies = test::recorded_page(name).tables.at("copies");
    for (const char* const key : {"count", "bytes", "gpu_ns"}) {
      CAPTURE(name, key);
      const auto sum = [&](const char* table) {
        std::uint64_t out = 0;
        for (const Json& row : copies[table]["rows"]) out += row[key].get<std::uint64_t>();
        return out;
      };
      CHECK(sum("modules") == sum("memcpy"));
      CHECK(sum("sizes") == sum("memcpy"));
    }
  }
}

TEST_CASE("the GPU span of a range covers the work launched inside it and its children") {
  test::TraceOnDisk on_disk;
  LaunchRecord outer = test::launch(1, 1, 1), inner = test::launch(2, 2, 2);
  inner.host.start_ns = 200;
  inner.host.end_ns = 210;
  on_disk.lines[test::TraceOnDisk::kLaunch1] = test::line_of(outer);
  on_disk.lines[test::TraceOnDisk::kLaunch2] = test::line_of(inner);

  const Json ranges = made(on_disk).timeline["ranges"];

  // Sorted by start: the outer one from 50 to 500, the inner one from 150 to 400.
  CHECK(ranges["start"] == Json({50, 100}));
  CHECK(ranges["gpu_start"] == Json({1'000, 2'000}));
  CHECK(ranges["gpu_ns"] == Json({3'000, 1'000}));
}

TEST_CASE("a module's counters have five digits in the page, its named metrics those of the report") {
  const Json modules = test::recorded_page("rtdetr_rotated").tables.at("modules");
  WholeTrace whole(open_trace_folder(test::recorded("rtdetr_rotated")), {});
  const TraceTotals& trace = whole.totals();
  const RowValues& values = whole.values();
  const std::string path = "warmup/model/backbone", counter = "sm__inst_executed.sum";
  const auto is_it = [&](const Json& row) { return row["path"] == path; };
  const auto shown = std::find_if(modules.begin(), modules.end(), is_it);
  REQUIRE(shown != modules.end());

  for (const PathTotals& row : trace.totals.paths()) {
    if (trace.path_text(row.path) != path) continue;
    const Json report = module_row(row, trace, values);
    CHECK((*shown)["named"] == report["named"]);
    const Json &exact = report["metrics"][counter], &rounded = (*shown)["metrics"][counter];
    CHECK(rounded["n"] == exact["n"]);
    CHECK(rounded["mean"] != exact["mean"]);
    CHECK(rounded["mean"].get<double>() == Approx(exact["mean"].get<double>()).epsilon(1e-5));
  }
}

TEST_CASE("a kernel in the page has the named metrics of report --section metrics") {
  const Json kernels = test::recorded_page("rtdetr_rotated").tables.at("kernels");
  const test::SectionRun section("metrics", test::recorded("rtdetr_rotated"));
  std::size_t with_values = 0;

  for (const Json& kernel : kernels) {
    if (!kernel.contains("named")) continue;
    ++with_values;
    INFO(kernel["name"]);
    const auto row = section.find("metrics_kernels", {{"kernel", kernel["name"]}});
    REQUIRE(row);
    for (const char* const key : {"achieved_occupancy", "tensor_pipe", "issue_slots"}) {
      CHECK(kernel["named"][key].get<double>() ==
            Approx(section.number("metrics_kernels", *row, key)).margin(1e-3));
    }
  }
  CHECK(with_values == section.table("metrics_kernels").rows.size());
  CHECK(with_values > 10);
}

TEST_CASE("the page has titles and meanings of the metrics in its rows, once, and the topics of all") {
  const auto tables = [](const char* trace) { return test::recorded_page(trace).tables; };
  const Json metrics = named_metrics_json(Json::array({tables("rtdetr_sampled"), tables("rtdetr_rotated")}));

  std::vector<std::string> names;
  for (const Json& metric : metrics) names.push_back(metric["name"]);
  CHECK(names == std::vector<std::string>{"achieved_occupancy", "issue_slots", "tensor_pipe"});
  CHECK(metrics[2]["title"] == "tensor cores");
  CHECK(metrics[2]["column"] == "tensor");
  CHECK(metrics[2]["unit"] == "%");
  CHECK(metrics[2]["topic"] == "pipes");
  CHECK(metrics[2]["tip"] ==
        std::string("tensor cores: ") + find_named_metric("tensor_pipe")->meaning + " Higher is better.");
  CHECK(named_metrics_json(Json::array({tables("rtdetr_sampled")})).empty());
  CHECK(metric_topics_json() ==
        Json({"speed-of-light", "memory", "occupancy", "pipes", "roofline", "stalls"}));
}

TEST_CASE("marks and texts in place of numbers are those of the report's tables") {
  std::size_t texts = 0;
  for (const char* const name : {"rtdetr_sampled", "rtdetr_exact", "decoder_exact", "rtdetr_rotated"}) {
    CAPTURE(name);
    const Json tables = test::recorded_page(name).tables;
    for (const auto& [section, identity] : {std::pair("modules", "path"), std::pair("kernels", "name")}) {
      const test::SectionRun run(section, test::recorded(name));
      const Table& report = run.table(section);
      for (const Json& row : tables[section]) {
        if (!row.contains("texts")) continue;
        const auto at = run.find(section, {{identity, row[identity].get<std::string>()}});
        REQUIRE(at);
        for (std::size_t i = 1; i < report.columns.size(); ++i) {
          const TableColumn& column = report.columns[i];
          const Cell& cell = report.rows[*at][i];
          const bool marked = !cell.shown.empty() || !cell.sign.empty();
          CAPTURE(column.key);
          if (!marked && !row["texts"].contains(column.key)) continue;
          CHECK(row["texts"].value(column.key, "no text") == cell_text(cell, column.unit, false));
          ++texts;
        }
      }
    }
  }
  CHECK(texts > 100);
}

TEST_CASE("the page's columns have titles, units and meanings of the report's tables") {
  const Json tables = test::recorded_page("rtdetr_rotated").tables;
  const Json columns = page_columns_json(named_metrics_json(Json::array({tables})));

  CHECK(columns["modules"][3] == Json({{"key", "gpu_ns"},
                                       {"title", "GPU time"},
                                       {"unit", "ns"},
                                       {"tip", "Summed kernel durations"},
                                       {"bar", true}}));
  std::vector<std::string> metrics;
  for (const Json& column : columns["kernel_metrics"]) metrics.push_back(column["key"]);
  CHECK(metrics == std::vector<std::string>{"name", "library", "count", "total_ns", "achieved_occupancy",
                                            "tensor_pipe", "issue_slots"});
  CHECK(columns["kernel_metrics"][5] == Json({{"key", "tensor_pipe"},
                                              {"title", "Tensor"},
                                              {"unit", "percent"},
                                              {"importance", 87},
                                              {"bar", true},
                                              {"tip", metric_tip(*find_named_metric("tensor_pipe"))}}));
}

TEST_CASE("tables of a difference have columns, and texts where a value alone does not show them") {
  Table table;
  table.name = "modules";
  table.columns = {{"path", "module"}, {"relative", "change", Unit::share}};
  table.add({Cell(CellValue(std::string("a/b")), "  b"), Cell(CellValue(0.25), "+25.0 %")});
  table.add({Cell("c")});
  Json out{{"modules", render_rows(table)}};

  add_columns(out, {table});

  CHECK(out["columns"]["modules"][1] == Json({{"key", "relative"}, {"title", "Change"}, {"unit", "share"}}));
  CHECK(out["modules"][0]["texts"] == Json({{"relative", "+25.0 %"}}));
  CHECK_FALSE(out["modules"][1].contains("texts"));
}

TEST_CASE("a cell has a text where its row's value alone does not show it") {
  Table table;
  table.columns = {{"path", "module"},
                   {"share", "of peak", Unit::share},
                   {"bytes", "bytes", Unit::bytes},
                   {"rate", "rate", Unit::bytes_per_s},
                   {"hidden", "hidden", Unit::ns}};
  std::vector<Cell> cells{Cell("a"), Cell(CellValue(0.046489)), Cell(CellValue(std::uint64_t{1000})),
                          Cell(CellValue(2e9)), Cell()};
  cells[2].sign = "+";
  // As in JSON: one value is rounded, one is absent, one is not for people.
  Json row{{"share", 0.0465}, {"bytes", 1000}, {"hidden", 5}};

  add_cells(row, table, cells);

  CHECK(row == Json({{"share", 0.0465},
                     {"bytes", 1000},
                     {"hidden", 5},
                     {"texts", {{"share", "4.6 %"}, {"bytes", "1.00 kB+"}, {"hidden", ""}}},
                     {"rate", 2e9}}));
}

TEST_CASE("a page reads each of its traces once") {
  const auto write = [](const std::vector<TraceFolder>& traces) {
    std::ostringstream out;
    write_page(traces, out);
    CHECK(out.str().size() > page_template().size());
  };
  for (const char* const name : {"rtdetr_unfused", "multi_stream", "decoder_exact", "rtdetr_sampled"}) {
    CAPTURE(name);
    const auto folder = test::recorded(name);
    const TraceFolder files = open_trace_folder(folder);

    test::check_once(folder, [&] { write({files}); });
    test::check_once(
        folder,
        [&] {
          write({files, files});
        },
        2);
  }
}

TEST_CASE("marks are in the timeline with their texts") {
  const Json timeline = test::recorded_page("nvtx_shapes").timeline;

  const Json& marks = timeline["marks"];
  REQUIRE(marks["at"].size() == 12);
  CHECK(std::is_sorted(marks["at"].begin(), marks["at"].end()));
  for (const Json& text : marks["text"]) CHECK(text.get<std::size_t>() < timeline["texts"].size());
}

TEST_CASE("a hold is in the timeline with its cause, and not in the host time of its iteration") {
  using namespace test;
  test::TraceOnDisk on_disk;
  on_disk.lines = {line_of(header()), line_of(gpu()), line_of(path(1, 0, "step")),
                   line_of(HoldRecord{200, 700, 4711, HoldCause::counter_batch}),
                   line_of(range(1, 1, 100, 1'000))};

  const Made page = made(on_disk);

  CHECK(page.timeline["holds"]["start"] == Json({200}));
  CHECK(page.timeline["holds"]["ns"] == Json({500}));
  CHECK(page.timeline["holds"]["thread"] == Json({4711}));
  CHECK(page.timeline["hold_causes"][page.timeline["holds"]["cause"][0].get<std::size_t>()] ==
        "counter_batch");
  CHECK(page.tables["iterations"]["iterations"]["rows"][0]["host_ns"] == 400);
  CHECK(page.tables["iterations"]["iterations"]["rows"][0]["held_ns"] == 500);
}

TEST_CASE("a record that arrives before its launch still gets its arrow") {
  test::TraceOnDisk on_disk;
  const LaunchRecord on_launch = test::launch(1, 1, 1);
  on_disk.lines[test::TraceOnDisk::kLaunch1] = test::line_of(on_launch);
  std::swap(on_disk.lines[test::TraceOnDisk::kLaunch1], on_disk.lines[test::TraceOnDisk::kKernel1]);

  const Json pieces = made(on_disk).timeline["lanes"][0]["pieces"];

  CHECK(pieces["launch"][0] == on_launch.host.start_ns);
  CHECK(pieces["launch_thread"][0] == 4711);
}

TEST_CASE("a whole graph is in the lane of its stream, with its launch") {
  test::TraceOnDisk on_disk;
  LaunchRecord call = test::launch(7, 1, 1);
  call.api = "cuGraphLaunch";
  GraphRecord graph;
  graph.work = test::kernel(7, 1, 9'000, 9'500, 1).work;
  graph.work.graph = 4;
  on_disk.lines = {test::line_of(test::header()), test::line_of(test::gpu()),
                   test::line_of(test::path(1, 0, "step")), test::line_of(call), test::line_of(graph)};

  const Json pieces = made(on_disk).timeline["lanes"][0]["pieces"];

  CHECK(pieces["kind"] == Json({3}));
  CHECK(pieces["graph"] == Json({4}));
  CHECK(pieces["start"] == Json({9'000}));
  CHECK(pieces["ns"] == Json({500}));
  CHECK(pieces["launch_thread"] == Json({4711}));
}

TEST_CASE("kernels beyond the limit are omitted but count in the busy time of their stream") {
  PageLimits limits;
  limits.work = 400;
  limits.ranges = 100;
  limits.bins = 1024;
  test::TraceOnDisk on_disk;
  make_many_kernels(on_disk, 10'000);

  const Made page = made(on_disk, limits);

  CHECK(page.timeline["whole"] == false);
  CHECK(page.timeline["work"] == 10'000);
  const Json& lane = page.timeline["lanes"][0];
  CHECK(lane["pieces"]["start"].size() <= 400);
  CHECK(lane["pieces"]["start"].size() > 100);
  double busy = 0;
  for (const Json& part : lane["busy"]) busy += part.get<double>() / 1000;
  const double busy_ns = busy * page.timeline["bin_ns"].get<double>();
  CHECK(busy_ns >= 10'000'000.0);  // rounded up in each bin
  CHECK(busy_ns < 11'000'000.0);
  CHECK(page.timeline["ranges_left_out"].get<std::uint64_t>() >= 10'000 - 200);
  CHECK(page.tables.at("kernels")[0]["count"] == 10'000);
}

TEST_CASE("modules beyond the limit are counted, and their kernels belong to an ancestor") {
  test::TraceOnDisk on_disk;
  PageLimits limits;
  limits.modules = 1;

  const Made page = made(on_disk, limits);

  CHECK(page.tables.at("modules").size() == 1);
  CHECK(page.tables["left_out"]["modules"] == 1);
  // The only module in the page is "model": both kernels belong to it.
  for (const Json& module : page.timeline["lanes"][0]["pieces"]["module"]) CHECK(module == 0);
}

TEST_CASE("the data of a page are text that cannot end its script") {
  test::TraceOnDisk on_disk;
  on_disk.lines[test::TraceOnDisk::kOuter] = test::line_of(test::path(1, 0, "</script><script>alert(1)"));
  on_disk.write();
  std::ostringstream out;
  write_page(find_traces(on_disk.folder.path()), out);

  const std::string page = out.str();

  CHECK(page.find("alert(1)") == std::string::npos);
  CHECK(page.find("@rangefinder-") == std::string::npos);
  CHECK(page.size() > page_template().size());
}

TEST_CASE("two traces share the limits of a page") {
  const PageLimits half = PageLimits{}.shared_by(2);

  CHECK(half.work == PageLimits{}.work / 2);
  CHECK(half.bins == PageLimits{}.bins / 2);
}

}  // namespace rangefinder
