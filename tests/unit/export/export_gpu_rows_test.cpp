// SPDX-License-Identifier: Apache-2.0
//
// Timeline cases that need made-up traces: instances of a range on the GPU, cyclic paths.
#include <sqlite3.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/export/export_format.h"
#include "tools/export/sqlite_database.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

struct Annotation {
  std::string name;
  std::uint64_t range;
  double start, duration;
  bool operator==(const Annotation&) const = default;
};

/// TraceOnDisk up to its configuration, followed by these kernels; and a request to export it.
struct KernelsOnDisk {
  explicit KernelsOnDisk(const std::vector<KernelRecord>& kernels) {
    trace.lines.resize(TraceOnDisk::kLaunch1);
    for (const KernelRecord& one : kernels) trace.lines.push_back(line_of(one));
  }
  ExportRequest request(const std::string& out = "out.json") const {
    trace.write();
    ExportRequest result;
    result.traces = find_traces(trace.folder.path());
    result.out = trace.folder.path() / out;
    return result;
  }
  TraceOnDisk trace;
};

/// The GPU annotations of these kernels, in output order.
std::vector<Annotation> annotations_of(const std::vector<KernelRecord>& kernels) {
  const KernelsOnDisk trace(kernels);
  const ExportRequest request = trace.request();
  (void)export_perfetto(request);
  std::ifstream in(request.out);
  std::vector<Annotation> out;
  for (const auto& event : nlohmann::json::parse(in)) {
    if (event.value("cat", "") != "gpu_user_annotation") continue;
    out.push_back({event["name"], event["args"]["External id"], event["ts"], event["dur"]});
  }
  return out;
}

}  // namespace

TEST_CASE("an annotation lasts from the first to the last kernel of its range, on each stream") {
  struct Case {
    const char* what;
    std::vector<KernelRecord> kernels;
    std::vector<Annotation> annotations;
  };
  const std::vector<Case> cases{
      {"one range", {kernel(1, 1, 1'000, 2'000, 9), kernel(2, 1, 4'000, 7'000, 9)}, {{"model", 9, 1, 6}}},
      {"an inner range interrupts the annotation around it without ending it",
       {kernel(1, 1, 1'000, 2'000, 9), kernel(2, 2, 2'000, 3'000, 10), kernel(3, 1, 3'000, 5'000, 9)},
       {{"model/layer\\/0", 10, 2, 1}, {"model", 9, 1, 4}}},
      {"a second instance of a range",
       {kernel(1, 1, 1'000, 2'000, 9), kernel(2, 1, 2'000, 3'000, 11)},
       {{"model", 9, 1, 1}, {"model", 11, 2, 1}}},
      {"a kernel outside of any range ends the annotations before it",
       {kernel(1, 1, 1'000, 2'000, 9), kernel(2, 0, 2'000, 3'000), kernel(3, 1, 3'000, 4'000, 9)},
       {{"model", 9, 1, 1}, {"model", 9, 3, 1}}}};
  for (const Case& one : cases) {
    INFO(one.what);
    CHECK(annotations_of(one.kernels) == one.annotations);
  }
}

TEST_CASE("kernels without times are omitted from a timeline and counted in a note") {
  const KernelsOnDisk trace({kernel(1, 1, kNoTime, kNoTime, 9), kernel(2, 1, 10, 20, 9)});

  const ExportResult result = export_perfetto(trace.request());

  REQUIRE(result.notes.size() == 2);  // the other one reports the missing end
  CHECK(result.notes[1].find("1 GPU record without times") != std::string::npos);
}

TEST_CASE("no format hangs on a path that is its own ancestor") {
  KernelsOnDisk trace({kernel(1, 3, 1'000, 2'000, 9), kernel(2, 4, 2'000, 3'000, 10)});
  trace.trace.lines[TraceOnDisk::kOuter] = line_of(path(3, 4, "a"));
  trace.trace.lines[TraceOnDisk::kInner] = line_of(path(4, 3, "b"));
  for (const ExportFormat& format : export_formats()) {
    CHECK_NOTHROW(format.write(trace.request("out." + std::string(format.name))));
  }
}

TEST_CASE("an integer too large for SQLite is stored as text") {
  const TemporaryFolder folder;
  const auto file = folder.path() / "out.sqlite";
  {
    SqliteDatabase database(file);
    database.execute("CREATE TABLE t (a, b, c)");
    {
      SqliteInsert insert(database, "t");
      insert.add(std::uint64_t{18'446'744'073'709'551'615u}, std::nullopt, std::int64_t{-1});
    }
    database.commit();
  }

  sqlite3* handle = nullptr;
  sqlite3_stmt* row = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &handle) == SQLITE_OK);
  REQUIRE(sqlite3_prepare_v2(handle, "SELECT a, b, c FROM t", -1, &row, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_step(row) == SQLITE_ROW);
  CHECK(std::string(reinterpret_cast<const char*>(sqlite3_column_text(row, 0))) == "18446744073709551615");
  CHECK(sqlite3_column_type(row, 1) == SQLITE_NULL);
  CHECK(sqlite3_column_int64(row, 2) == -1);
  sqlite3_finalize(row);
  sqlite3_close(handle);
}
