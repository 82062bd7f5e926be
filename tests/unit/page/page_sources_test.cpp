// SPDX-License-Identifier: Apache-2.0
//
// Source lines of modules in the data of the page.
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
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

}  // namespace rangefinder
