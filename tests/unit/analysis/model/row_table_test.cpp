// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/column_table.h"

#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_rows.h"

// In a namespace: the files of this program may be compiled together.
namespace rangefinder::row_table_test {
namespace {

/// A table with names of its own: the shown path of 7 is 2.
struct LaunchTable {
  explicit LaunchTable(Columns columns) {
    table.load(columns);
    static_cast<void>(paths.add(test::path(6, 0, "outer")));
    static_cast<void>(paths.add(test::path(7, 6, "inner")));
  }

  void add(std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) {
      LaunchRow row;
      row.launch.host = {static_cast<TimeNs>(1'000 * i * i),
                         static_cast<TimeNs>(1'000 * i * i + i % 31),
                         4711,
                         7,
                         i % 200,
                         i % 3 == 0};
      row.launch.api = i % 2 == 0 ? "cuLaunchKernel" : "cuMemcpyHtoDAsync";
      row.launch.correlation = static_cast<std::uint32_t>(i);
      row.launch.result = i % 100 == 0 ? -7 : 0;
      table.add(row, [this](std::string_view text) { return names.number_of(text); });
    }
  }
  std::vector<LaunchRecord> rows(const ColumnTable<LaunchRow>& of, Columns wanted) {
    std::vector<LaunchRecord> out;
    ColumnTable<LaunchRow>::RowReader all(of, wanted, names);
    for (std::size_t i = 0; i < of.size(); ++i) out.push_back(all.next().launch);
    return out;
  }

  ShownPaths paths;
  RowNames names{paths};
  ColumnTable<LaunchRow> table;
  ColumnMemory memory;
};

bool same(const std::vector<LaunchRecord>& a, const std::vector<LaunchRecord>& b) {
  bool out = a.size() == b.size();
  for (std::size_t i = 0; out && i < a.size(); ++i) out = test::line_of(a[i]) == test::line_of(b[i]);
  return out;
}

/// Of the columns of the kernels of a recorded run.
std::size_t kept_bytes(const std::string& recording, Columns columns) {
  Trace trace(open_trace_folder(test::golden(recording)), {.columns = columns});
  trace.each_chunk([](const Chunk&) {});
  return trace.memory_bytes();
}

}  // namespace

TEST_CASE("rows come back as they were added, before and after they were packed") {
  LaunchTable made(kAllLaunch);
  made.add(1'500);

  const std::vector<LaunchRecord> before = made.rows(made.table, kAllLaunch);
  const ColumnTable<LaunchRow> packed = made.table.packed(kAllLaunch, made.memory);

  REQUIRE(before.size() == 1'500);
  CHECK(before[7].host.start_ns == 49'000);
  CHECK(before[7].host.end_ns == 49'007);
  CHECK(before[7].host.path == 2);
  CHECK(before[7].host.range == 7);
  CHECK(before[7].api == "cuMemcpyHtoDAsync");
  CHECK(before[1'200].result == -7);
  CHECK(before[1'200].host.inherited);
  CHECK(same(made.rows(packed, kAllLaunch), before));
}

TEST_CASE("members of columns that are not wanted keep their defaults") {
  LaunchTable made(kAllLaunch);
  made.add(100);
  const ColumnTable<LaunchRow> packed = made.table.packed(kAllLaunch, made.memory);

  for (const ColumnTable<LaunchRow>* const table :
       std::initializer_list<const ColumnTable<LaunchRow>*>{&made.table, &packed}) {
    for (const LaunchRecord& row : made.rows(*table, Column::launch_correlation)) {
      CHECK(row.host.start_ns == kNoTime);
      CHECK(row.host.end_ns == kNoTime);
      CHECK(row.host.path == 0);
      CHECK(row.host.range == 0);
      CHECK(row.api.empty());
      CHECK(row.result == 0);
    }
    CHECK(made.rows(*table, Column::launch_correlation)[99].correlation == 99);
  }
}

TEST_CASE("columns that are not loaded take no memory") {
  LaunchTable all(kAllLaunch), few(Column::launch_range);
  all.add(1'000);
  few.add(1'000);
  const std::size_t empty = ColumnTable<LaunchRow>().memory_bytes();

  CHECK(all.table.packed(kAllLaunch, all.memory).memory_bytes() > empty + 3'000);
  CHECK(few.table.packed(kAllLaunch, few.memory).memory_bytes() == empty + 2'000);  // range, inherited
  CHECK(all.table.packed(Column::launch_range, all.memory).memory_bytes() == empty + 2'000);
  CHECK(all.table.packed({}, all.memory).memory_bytes() == empty);
}

TEST_CASE("a cleared table has only the rows that are added later") {
  LaunchTable made(kAllLaunch);
  made.add(1'100);
  made.table.clear();
  made.add(3);

  CHECK(made.table.size() == 3);
  CHECK(made.rows(made.table, kAllLaunch)[2].correlation == 2);
  CHECK(made.rows(made.table.packed(kAllLaunch, made.memory), kAllLaunch).size() == 3);
}

TEST_CASE("an empty table has no rows") {
  LaunchTable made(kAllLaunch);

  CHECK(made.rows(made.table, kAllLaunch).empty());
  CHECK(made.rows(made.table.packed(kAllLaunch, made.memory), kAllLaunch).empty());
}

TEST_CASE("times that are unknown, negative or open stay so") {
  ColumnTable<RangeRow> table;
  table.load(kAllRange);
  ShownPaths paths;
  RowNames names(paths);
  std::vector<RangeRecord> put;
  for (const auto& [start, end] : std::vector<std::pair<TimeNs, TimeNs>>{{-5, 7},
                                                                         {900, kNoTime},
                                                                         {kNoTime, kNoTime},
                                                                         {INT64_MAX - 1, INT64_MAX},
                                                                         {INT64_MIN + 1, INT64_MAX}}) {
    RangeRow row;
    row.range.start_ns = start;
    row.range.end_ns = end;
    table.add(row, [](std::string_view) { return 0U; });
    put.push_back(row.range);
  }
  ColumnMemory memory;
  const ColumnTable<RangeRow> packed = table.packed(kAllRange, memory);

  ColumnTable<RangeRow>::RowReader rows(packed, kAllRange, names);
  for (const RangeRecord& expected : put) {
    const RangeRecord& range = rows.next().range;
    CHECK(range.start_ns == expected.start_ns);
    CHECK(range.end_ns == expected.end_ns);
  }
}

TEST_CASE("a range whose path is no level has no name of its own") {
  ColumnTable<RangeRow> table;
  table.load(kAllRange);
  ShownPaths paths;
  static_cast<void>(paths.add(test::path(2, 0, "outer")));
  static_cast<void>(paths.add(test::path(3, 2, "")));
  static_cast<void>(paths.add(test::path(4, 2, "inner")));
  RowNames names(paths);
  for (const std::uint32_t path : {3U, 4U, 0U}) {
    RangeRow row;
    row.range.path = path;
    table.add(row, [](std::string_view) { return 0U; });
  }

  ColumnTable<RangeRow>::RowReader rows(table, kAllRange, names);
  const RangeRecord omitted = rows.next().range, level = rows.next().range, none = rows.next().range;

  CHECK((omitted.path == 1 && omitted.name == ShownPaths::kUnnamed));
  CHECK((level.path == 2 && level.name == 0));
  CHECK((none.path == 0 && none.name == 0));
}

TEST_CASE("each group of columns adds memory to a kept recording, and none is kept that is not loaded") {
  const std::size_t none = kept_bytes("decoder_exact", {});
  const std::vector<Columns> groups{Column::work_times,  Column::work_correlation,
                                    Column::work_range,  Column::launch_times,
                                    Column::launch_path, Column::exact,
                                    Column::range_times, Column::range_path,
                                    Column::syncs,       Column::range_payload,
                                    Column::allocs};
  std::size_t sum = none;
  for (const Columns group : groups) {
    const std::size_t bytes = kept_bytes("decoder_exact", group);
    CHECK(bytes >= none);
    sum += bytes - none;
  }

  CHECK(sum > none);
  Columns all;
  for (const Columns group : groups) all |= group;
  CHECK(kept_bytes("decoder_exact", all) <= sum + 200'000);
}

}  // namespace rangefinder::row_table_test
