// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.h"

#include <nlohmann/json.hpp>
#include "tools/analysis/table/table_render.h"

namespace rangefinder {
namespace {

Table sample() {
  Table table;
  table.name = "sample";
  table.columns = {
      {"name", "what", Unit::text}, {"gpu_ns", "GPU time", Unit::ns}, {"bytes", "size", Unit::bytes}};
  table.add({Cell("a,b"), Cell(std::uint64_t{1'500'000}), Cell(std::uint64_t{2'000})});
  table.add({Cell("=1+1|x"), Cell(std::uint64_t{3'000}), Cell()});
  return table;
}

std::uint64_t number(const Cell& cell) {
  return std::get<std::uint64_t>(cell.value);
}

TEST_CASE("text has units, or plain numbers if raw") {
  const Table table = sample();
  CHECK(render_text(table, {}).find("1.50 ms") != std::string::npos);
  CHECK(render_text(table, {0, false, true}).find("1500000") != std::string::npos);
  CHECK(render_text(table, {0, false, true}).find("ms") == std::string::npos);
}

TEST_CASE(
    "on a terminal, rows that got worse are red, better ones green, and those below 1 % of the time dim") {
  Table table;
  table.columns = {
      {"name", "name", Unit::text}, {"share", "share", Unit::share}, {"verdict", "verdict", Unit::text}};
  table.add({Cell("a"), Cell(0.5), Cell("slower")});
  table.add({Cell("b"), Cell(0.5), Cell("fewer")});
  table.add({Cell("c"), Cell(0.005), Cell()});
  table.add({Cell("d"), Cell(0.5), Cell("same")});

  CHECK(render_text(table, {0, true}) ==
        "\033[1mname   share  verdict\033[0m\n"
        "\033[31ma     50.0 %   slower\033[0m\n"
        "\033[32mb     50.0 %    fewer\033[0m\n"
        "\033[2mc      0.5 %\033[0m\n"
        "d     50.0 %     same\n");
  CHECK(render_text(table, {0, false}).find('\033') == std::string::npos);
}

TEST_CASE("raw numbers are integers or have six significant digits") {
  Table table;
  table.columns = {{"name", "name", Unit::text}, {"value", "value", Unit::number}};
  for (const double value : {0.23077302591529625, 1234.56789, 1'780'220'301'234.4, 3.0, -0.5, 1e-9})
    table.add({Cell("x"), Cell(value)});
  const std::string text = render_text(table, {0, false, true});

  for (const char* const shown :
       {"0.230773\n", "1234.57\n", "1780220301234\n", " 3\n", "-0.5\n", "1e-09\n"}) {
    INFO(shown);
    CHECK(text.find(shown) != std::string::npos);
  }
}

TEST_CASE("CSV has keys, plain numbers, empty fields and necessary quotes") {
  CHECK(render_csv(sample()) == "name,gpu_ns,bytes\r\n\"a,b\",1500000,2000\r\n\"=1+1|x\",3000,\r\n");
  CHECK(csv_field("say \"hi\"\n") == "\"say \"\"hi\"\"\n\"");
}

TEST_CASE("Markdown escapes characters that end a cell or start markup") {
  CHECK(render_markdown(sample(), false).find("=1+1\\|x") != std::string::npos);
  CHECK(render_markdown(sample(), false).find("|---|---:|---:|") != std::string::npos);
}

TEST_CASE("JSON rows omit empty cells") {
  const auto rows = render_rows(sample());
  CHECK(rows[0]["bytes"] == 2'000);
  CHECK_FALSE(rows[1].contains("bytes"));
}

TEST_CASE("rows are sorted by number, largest first and unknown values last") {
  Table table = sample();
  table.add({Cell("c"), Cell(std::uint64_t{9'000}), Cell(std::uint64_t{5'000})});
  REQUIRE(sort_rows(table, "bytes"));
  CHECK(number(table.rows[0][2]) == 5'000);
  CHECK(table.rows[2][2].empty());
  CHECK_FALSE(sort_rows(table, "nothing"));
}

TEST_CASE("a column without values is dropped, except the first") {
  Table table = sample();
  for (auto& row : table.rows) row[2] = Cell();
  for (auto& row : table.rows) row[0] = Cell();
  drop_empty_columns(table);
  REQUIRE(table.columns.size() == 2);
  CHECK(table.columns[0].key == "name");
}

TEST_CASE("a negative number keeps its sign and its unit") {
  CHECK(cell_text(Cell(CellValue(std::int64_t{-1'500'000})), Unit::ns, false) == "-1.50 ms");
  CHECK(cell_text(Cell(CellValue(-0.25)), Unit::share, false) == "-25.0 %");
}

TEST_CASE("JSON rows become one CSV column per value, nested objects and arrays too") {
  const auto rows =
      nlohmann::ordered_json::parse(R"([{"a":1,"b":{"c":2.5}},{"a":2,"d":["x","y"],"e":true}])");
  CHECK(render_csv(table_of_rows("t", rows)) == "a,b.c,d,e\r\n1,2.5,,\r\n2,,x;y,yes\r\n");
}

TEST_CASE("a name cannot send control sequences to the terminal") {
  Table table = sample();
  table.rows[0][0] = Cell(CellValue(std::string("\033[2Jx")));
  CHECK(render_text(table, {}).find('\033') == std::string::npos);
}

}  // namespace
}  // namespace rangefinder
