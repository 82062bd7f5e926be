// SPDX-License-Identifier: Apache-2.0
//
// Source lines of modules, and conditions in the timeline, in the data of the page.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/page/recorded_page.h"
#include "tools/page/page_data.h"

namespace rangefinder {

TEST_CASE("a module in the page has its source lines") {
  test::TraceOnDisk on_disk;
  on_disk.lines.insert(on_disk.lines.end() - 1,
                       test::line_of(ModuleSourceRecord{1, "/app/model.py", 214, "/app/train.py", 30}));
  on_disk.write();
  WholeTrace trace(find_traces(on_disk.folder.path()).at(0), kPageColumns);

  const PageData page = page_data(trace, {});
  const nlohmann::ordered_json& module = page.tables["modules"][0];

  CHECK(module["source"] == "model.py:214");
  CHECK(module["class_source"] == "/app/model.py:214");
  CHECK(module["call_source"] == "/app/train.py:30");
}

TEST_CASE("the timeline has each GPU's clock and power from its begin on, as in the condition lines") {
  const nlohmann::ordered_json& timeline = test::recorded_page("gemm_power").timeline;
  const nlohmann::ordered_json& all = timeline["conditions"];
  REQUIRE(all.size() == 4);
  CHECK(all[0]["title"] == "SM clock, MHz");
  CHECK(all[1]["title"] == "power, W");
  CHECK(all[2]["title"] == "temperature, °C");
  CHECK(all[3]["title"] == "CPU, % of a core");
  for (const nlohmann::ordered_json& row : all) {
    CAPTURE(row["title"]);
    if (!row.contains("gpu")) continue;
    CHECK(row["at"][0].get<TimeNs>() <= timeline["first_ns"].get<TimeNs>());
    REQUIRE(row["at"].size() == row["value"].size());
    for (std::size_t i = 1; i < row["at"].size(); ++i) CHECK(row["at"][i].get<TimeNs>() > 0);  // differences
    const auto values = row["value"].get<std::vector<std::uint64_t>>();
    CHECK(*std::max_element(values.begin(), values.end()) > *std::min_element(values.begin(), values.end()));
  }
  CHECK(all[0]["value"][0] == 1980);
}

}  // namespace rangefinder
