// SPDX-License-Identifier: Apache-2.0
//
// Tables of memory in the data of the page.
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/page/page_data.h"

namespace rangefinder {

TEST_CASE("PyTorch's allocator is in the page as the report's table") {
  test::TraceOnDisk on_disk;
  on_disk.write();
  std::ofstream(on_disk.folder.path() / "torch_memory.json")
      << R"({"devices":[{"device":0,"complete":true,"modules":[{"path":"model","calls":10,"allocations":40,)"
      << R"("allocated_bytes":90,"later_growth_bytes":80,"peak_bytes":99,"live_at_peak_bytes":85,"kept_bytes":7}]}]})";
  WholeTrace trace(find_traces(on_disk.folder.path()).at(0), kPageColumns);

  const nlohmann::ordered_json memory = page_data(trace, {}).tables["memory"];
  const nlohmann::ordered_json& table = memory["torch_memory"];

  REQUIRE(table["rows"].size() == 1);
  CHECK(table["rows"][0]["path"] == "model");
  CHECK(table["rows"][0]["live_at_peak_bytes"] == 85);
  CHECK(table["rows"][0]["growth_bytes_per_call"] == 10);
  CHECK(table["columns"][2] ==
        nlohmann::ordered_json::parse(
            R"({"key":"live_at_peak_bytes","title":"At the peak","unit":"bytes","bar":true})"));
  CHECK(memory["memory"]["rows"].empty());
}

}  // namespace rangefinder
