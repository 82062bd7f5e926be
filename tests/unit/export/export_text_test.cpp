// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/base/text_parts.h"
#include "tools/export/chrome_rows.h"
#include "tools/export/csv_tables.h"
#include "tools/export/prometheus_families.h"
#include "tools/export/sqlite_database.h"
#include "tools/export/sqlite_schema.h"
#include "tools/export/value_text.h"

using namespace rangefinder;
using rangefinder::test::content;
using rangefinder::test::TemporaryFolder;

namespace {

/// A file of Chrome events in an array, written by `write(events, rows)`.
template <typename Write>
nlohmann::json chrome_events(TimeNs origin_ns, Write&& write) {
  const TemporaryFolder folder;
  OutputFile file(folder.path() / "out", Overwrite::no);
  file.text() += '[';
  ChromeEvents events(file, origin_ns);
  ChromeRows rows(events);
  write(events, rows);
  file.text() += ']';
  file.commit();
  return nlohmann::json::parse(content(folder.path() / "out"));
}

}  // namespace

TEST_CASE("nanoseconds become microseconds with three decimals") {
  std::string out;
  for (const std::uint64_t ns : {0ull, 7ull, 1'000ull, 12'345ull, 18'446'744'073'709'551'615ull}) {
    append_micros(out, ns);
    out += ' ';
  }

  CHECK(out == "0.000 0.007 1.000 12.345 18446744073709551.615 ");
}

TEST_CASE("an event before the origin starts at 0, and one that ends before its start has duration 0") {
  const auto events = chrome_events(1'000, [](ChromeEvents& out, ChromeRows&) {
    out.slice({1, 2}, "kernel", "\"early\"", 500, 800);
    out.close();
    out.slice({1, 2}, "kernel", "\"reversed\"", 5'000, 4'000);
    out.close();
  });

  CHECK(events[0]["ts"] == 0.0);
  CHECK(events[1]["ts"] == 4.0);
  CHECK(events[1]["dur"] == 0.0);
}

TEST_CASE("the end of a flow binds to the enclosing slice, its start does not") {
  const auto events = chrome_events(0, [](ChromeEvents& out, ChromeRows&) {
    out.flow('s', {1, 2}, 17, 10);
    out.flow('f', {1, 3}, 17, 20);
  });

  CHECK(events[0]["id"] == 17);
  CHECK_FALSE(events[0].contains("bp"));
  CHECK(events[1]["bp"] == "e");
}

TEST_CASE("overlapping slices get their own lanes, and a free lane is reused") {
  const RowKey key{1, RowKind::stream, 1, 7, 0};
  ChromeRow first, second, third, fourth;
  const auto events = chrome_events(0, [&](ChromeEvents&, ChromeRows& rows) {
    const auto name = [] { return std::string("stream 7"); };
    first = rows.lane(key, 7, 0, 100, name);
    second = rows.lane(key, 7, 50, 150, name);
    third = rows.lane(key, 7, 100, 200, name);
    fourth = rows.lane(key, 7, 150, 160, name);
  });

  CHECK(first.tid == 7);
  CHECK(second.tid != 7);
  CHECK(third.tid == 7);
  CHECK(fourth.tid == second.tid);
  CHECK(events.size() == 4);  // a name and a sort index for each of two rows
  CHECK(events[2]["args"]["name"] == "stream 7 (2)");
}

TEST_CASE("a stream whose id is taken or 0 gets a row id above all threads") {
  ChromeRow taken, zero;
  (void)chrome_events(0, [&](ChromeEvents&, ChromeRows& rows) {
    const auto name = [] { return std::string("stream"); };
    (void)rows.lane({1, RowKind::stream, 1, 7, 0}, 7, 0, 1, name);
    taken = rows.lane({1, RowKind::stream, 2, 7, 0}, 7, 0, 1, name);
    zero = rows.lane({1, RowKind::stream, 1, 0, 0}, 0, 0, 1, name);
  });

  constexpr std::uint32_t kMaxThread = 1u << 22;
  CHECK(taken.tid > kMaxThread);
  CHECK(zero.tid > kMaxThread);
}

TEST_CASE("a CSV cell is quoted only if necessary") {
  CHECK(csv_cell("plain text") == "plain text");
  CHECK(csv_cell("") == "");
  CHECK(csv_cell("a,b") == "\"a,b\"");
  CHECK(csv_cell("say \"hi\"") == "\"say \"\"hi\"\"\"");
  CHECK(csv_cell("two\r\nlines") == "\"two\r\nlines\"");
}

TEST_CASE("a CSV cell that looks like a formula is quoted and keeps its text") {
  for (const std::string text : {"=1+1", "+1", "-1", "@SUM(A1)", "\ttab"}) {
    CHECK(csv_cell(text) == '"' + text + '"');
  }
}

TEST_CASE("a CSV cell is valid UTF-8 without NUL") {
  CHECK(csv_cell(std::string_view("a\xFF\0b", 4)) ==
        "a\xEF\xBF\xBD\xEF\xBF\xBD"
        "b");
}

TEST_CASE("NaN, infinities and missing values are empty cells") {
  const TemporaryFolder folder;
  CsvTables tables(folder.path(), Overwrite::no);
  const auto row = [&tables](double value) {
    const RowCell cells[] = {{}, {}, std::uint64_t{3}, "-a", NameCell{"b,"}, value};
    tables.row(RowTable::metrics, cells);
  };
  row(std::nan(""));
  row(std::numeric_limits<double>::infinity());
  row(0.5);
  tables.row(RowTable::contexts, {});  // not in CSV
  (void)tables.commit();

  CHECK(content(folder.path() / "metrics.csv") ==
        "trace,correlation,counter_range,metric_set,metric,value\r\n"
        "0,,3,\"-a\",\"b,\",\r\n0,,3,\"-a\",\"b,\",\r\n0,,3,\"-a\",\"b,\",0.5\r\n");
}

TEST_CASE("every column of a table of the sqlite export has a value, and every value a column") {
  const TemporaryFolder folder;
  SqliteDatabase database(folder.path() / "out.sqlite");
  database.execute(kSqliteNsightTables);
  database.execute(kSqliteOwnTables);
  std::map<std::string, std::set<std::string>, std::less<>> named;
  for (const RowTableShape& shape : row_tables()) {
    CHECK(&shape == &row_tables()[static_cast<std::size_t>(shape.id)]);
    CHECK(shape.columns.size() <= kMaxRowCells);
    if (shape.sqlite.empty()) continue;
    for (const RowColumn& column : shape.columns) named[std::string(shape.sqlite)].insert(column.sqlite);
  }
  for (auto& [table, columns] : named) {
    INFO(table);
    columns.erase("");
    const SqliteInsert insert(database, table);
    CHECK(columns == std::set<std::string>(insert.columns().begin(), insert.columns().end()));
  }
}

TEST_CASE("samples with equal labels are added up, and seconds keep every nanosecond") {
  PrometheusFamily family("x_seconds_total", "Help.", "counter", PrometheusUnit::nanosecond);
  family.add({{"gpu", "0"}, {"rank", ""}}, 1'000'000'000);
  family.add({{"gpu", "0"}}, 1);
  std::string text;
  family.append(text);

  CHECK(text ==
        "# HELP x_seconds_total Help.\n# TYPE x_seconds_total counter\nx_seconds_total{gpu=\"0\"} "
        "1.000000001\n");
}

TEST_CASE("label values are escaped as the text format requires") {
  PrometheusFamily family("x", "Help.", "gauge", PrometheusUnit::one);
  family.set({{"module", "a\"b\\c\nd\xFF"}}, 1);
  std::string text;
  family.append(text);

  test::check_has(text, {"x{module=\"a\\\"b\\\\c\\nd\xEF\xBF\xBD\"} 1\n"});
}

TEST_CASE("a payload is formatted by its type, 64 bits without loss") {
  NvtxExtras extras;
  CHECK(payload_text(extras).empty());
  extras.payload_type = PayloadType::u64;
  extras.payload = 18'446'744'073'709'551'615ull;
  CHECK(payload_text(extras) == "18446744073709551615");
  extras.payload_type = PayloadType::i32;
  CHECK(payload_text(extras) == "-1");
  extras.payload_type = PayloadType::f64;
  extras.payload = std::bit_cast<std::uint64_t>(std::nan(""));
  CHECK(payload_text(extras) == "nan");
}
