// SPDX-License-Identifier: Apache-2.0
//
// Data of the page's views Limits and Findings: points, lines, roofs and links, beside the report's.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/base/iteration_names.h"
#include "tests/catch.h"
#include "tests/unit/page/recorded_page.h"
#include "tools/analysis/queries/byte_fit.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/page/limit_points.h"
#include "tools/page/page_data.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

TEST_CASE("points of time over bytes are without warm-up; from ten modules on they have the report's line") {
  std::size_t lines = 0;
  for (const char* const name : {"rtdetr_exact", "rtdetr_sampled", "known_bytes_exact"}) {
    INFO(name);
    WholeTrace trace(open_trace_folder(test::recorded(name)), kPageColumns);
    const Json& tables = test::recorded_page(name).tables;
    const Json& iterations = tables["iterations"]["iterations"]["rows"];
    const auto first = std::find_if(iterations.begin(), iterations.end(),
                                    [](const Json& row) { return !row.contains("warm_up"); });
    const TracePart* const part =
        first == iterations.end() ? nullptr : trace.measured_from((*first)["iteration"]);
    const std::vector<DepthFit> fits =
        byte_fits(part == nullptr ? trace.totals() : part->trace,
                  part == nullptr ? trace.values() : *part->values, nullptr, 1);
    const Json report = render_rows(byte_fit_table(fits, 0));

    REQUIRE(tables["byte_fit"].size() == report.size());
    REQUIRE_FALSE(report.empty());
    for (std::size_t i = 0; i < report.size(); ++i) {
      Json row = tables["byte_fit"][i];
      const Json points = row["points"];
      row.erase("points");
      const bool has_line = row["modules"] >= kMinModulesOfLine;
      lines += has_line ? 1 : 0;
      if (has_line) CHECK(row == report[i]);
      CHECK(row.contains("dram_r") == (has_line && report[i].contains("dram_r")));
      REQUIRE(points["module"].size() == row["modules"]);
      const std::vector<std::size_t>& far = fits[i].lines[DepthFit::dram].outliers;
      for (std::size_t k = 0; k < points["module"].size(); ++k) {
        const Json& module = tables["modules"][points["module"][k].get<std::size_t>()];
        CHECK(module["depth"] == row["depth"]);
        CHECK_FALSE(module["path"].get<std::string>().starts_with("warmup"));
        CHECK(points["dram_far"][k] == (has_line && std::find(far.begin(), far.end(), k) != far.end()));
      }
    }
  }
  CHECK(lines > 3);
}

TEST_CASE("a module that the page omits is no point, and counts as omitted") {
  PageLimits limits;
  limits.modules = 20;
  WholeTrace trace(open_trace_folder(test::recorded("rtdetr_exact")), kPageColumns);
  const Json tables = page_data(trace, limits).tables;

  std::size_t points = 0, modules = 0;
  for (const Json& row : tables["byte_fit"]) {
    points += row["points"]["module"].size();
    modules += row["modules"].get<std::size_t>();
  }
  CHECK(points < modules);
  CHECK(tables["left_out"]["byte_fit_points"] == modules - points);
}

TEST_CASE("the page's roofs of modules are those of report --section roofline, and kernels have theirs") {
  const Json& tables = test::recorded_page("case_gemm_metrics").tables;
  const test::SectionRun section("roofline", test::recorded("case_gemm_metrics"));
  std::size_t modules = 0, kernels = 0;
  for (const Json& point : tables["roofline"]) {
    CHECK(point["roof"].get<double>() >= point["flop_per_s"].get<double>());
    kernels += point.contains("kernel") ? 1 : 0;
    if (!point.contains("module")) continue;
    ++modules;
    const Json& path = tables["modules"][point["module"].get<std::size_t>()]["path"];
    const auto row = section.find("roofline", {{"path", path.get<std::string>()}});
    REQUIRE(row);
    CHECK(point["roof"].get<double>() / 1e12 == Approx(section.number("roofline", *row, "roof_tflop_per_s")));
    CHECK(point["dram"].get<double>() == Approx(section.number("roofline", *row, "flop_per_dram_byte")));
  }
  CHECK(modules == section.table("roofline").rows.size());
  CHECK(kernels == tables["kernels"].size());
}

TEST_CASE("names in findings lead to the rows of the page that have them") {
  std::size_t links = 0;
  for (const char* const name :
       {"case_gemm_metrics", "decoder_sampled", "rtdetr_graph", "compiled_origins"}) {
    INFO(name);
    const Json& tables = test::recorded_page(name).tables;
    for (const Json& finding : tables["findings"]) {
      const Json& all = finding["links"];
      if (finding.contains("kernel")) CHECK(all[finding["kernel"].get<std::string>()].contains("kernel"));
      for (const auto& [text, link] : all.items()) {
        ++links;
        if (link.contains("kernel")) {
          std::string kernel = tables["kernels"][link["kernel"].get<std::size_t>()]["name"];
          if (kernel.starts_with("void ")) kernel.erase(0, 5);
          CHECK((kernel.starts_with(text) || text == short_kernel_name(kernel)));
        } else {
          const std::string path = tables["modules"][link["module"].get<std::size_t>()]["path"];
          CHECK((path == text || numbers_folded(path) == text));
          // The heaviest of those that differ in numbers only.
          for (const Json& module : tables["modules"]) {
            if (path != text && numbers_folded(module["path"].get<std::string>()) == text)
              CHECK(module["gpu_ns"] <= tables["modules"][link["module"].get<std::size_t>()]["gpu_ns"]);
          }
        }
      }
    }
  }
  CHECK(links > 10);
}

}  // namespace rangefinder
