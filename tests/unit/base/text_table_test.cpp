// SPDX-License-Identifier: Apache-2.0
#include "profiler/base/text_table.h"

#include "tests/catch.h"

using namespace rangefinder;

namespace {

TextTable small_table() {
  TextTable table("path", CutSide::front);
  table.add_column("calls", 1);
  table.add_column("time");
  table.add_row("model", {"50", "1.00 ms"});
  table.add_row("model/decoder", {"5", "2 ns"});
  return table;
}

}  // namespace

TEST_CASE("the first column is left-aligned, the others right-aligned") {
  TextTable table = small_table();

  CHECK(table.render(0) ==
        "path           calls     time\n"
        "model             50  1.00 ms\n"
        "model/decoder      5     2 ns\n");
  CHECK(table.omitted_line().empty());
}

TEST_CASE("a narrow line omits the least important column and reports it") {
  TextTable table = small_table();

  const std::string text = table.render(22);

  CHECK(text.find("calls") == std::string::npos);
  CHECK(text.find("1.00 ms") != std::string::npos);
  CHECK(table.omitted_line() == "Omitted for lack of width (--wide shows all): calls\n");
}

TEST_CASE("a path that does not fit is cut at the front") {
  TextTable table("path", CutSide::front);
  table.add_column("time");
  table.add_row("model/a/very/long/path/of/a/module/somewhere/deep", {"1 ns"});

  const std::string text = table.render(40);

  CHECK(text.find("\n…") != std::string::npos);
  CHECK(text.find("/module/somewhere/deep") != std::string::npos);
  CHECK(text.find("model/a") == std::string::npos);
}

TEST_CASE("an empty last cell leaves no trailing blanks") {
  TextTable table("path", CutSide::front);
  table.add_column("time");
  table.add_row("model", {""});

  CHECK(table.render(0) == "path   time\nmodel\n");
}
