// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <chrono>
#include <fstream>

#include "tests/unit/analysis/queries/module_text.h"
#include "tests/unit/base/text_parts.h"
#include "tools/analysis/model/cut_end.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/model/segment_lines.h"
#include "tools/analysis/model/trace_files.h"
#include "tools/analysis/queries/kernel_table.h"

using namespace rangefinder;
using test::content;
using test::line_of;
using test::load_totals;
using test::module_text;
using test::TraceOnDisk;
using test::written_totals;

namespace {

/// Replaces a segment by its compressed form, cut by `cut` bytes.
void compress(const std::filesystem::path& path, std::size_t cut = 0) {
  const std::string plain = content(path);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1) - cut);
  std::ofstream(path.string() + ".zst", std::ios::binary) << packed;
  std::filesystem::remove(path);
}

}  // namespace

TEST_CASE("names of segments are recognised") {
  std::uint32_t number = 0;

  CHECK((segment_number("a/trace-00012.ndjson", number) && number == 12));
  CHECK((segment_number("trace-100000.ndjson.zst", number) && number == 100'000));
  CHECK_FALSE(segment_number("trace-.ndjson", number));
  CHECK_FALSE(segment_number("trace-1.json", number));
  CHECK_FALSE(segment_number("trace-1.ndjson.tmp", number));
  CHECK_FALSE(segment_number("summary.json", number));
}

TEST_CASE("an exact copy with its own line counts as one copy") {
  TraceOnDisk trace;
  MemcpyRecord copy;
  copy.bytes = 64;
  ExactRecord exact;
  exact.kind = WorkKind::memcpy;
  exact.launch.api = "cuMemcpyHtoDAsync";
  exact.measured = true;
  trace.lines.insert(trace.lines.end() - 1, {line_of(copy), line_of(exact)});

  CHECK(written_totals(trace).copies == 1);
}

TEST_CASE("totals by path include its children") {
  const TraceTotals totals = written_totals(TraceOnDisk());

  REQUIRE(totals.end);
  CHECK(totals.kernels == 2);
  const auto rows = select_modules(totals, RowValues(totals), {});
  REQUIRE(rows.size() == 2);
  CHECK(totals.path_text(rows[0].path) == "model");
  CHECK(rows[0].gpu_ns == 3'000);
  CHECK(rows[0].gpu_ns_exclusive == 2'000);
  CHECK(totals.path_text(rows[1].path) == "model/layer\\/0");
  CHECK(rows[1].gpu_ns == 1'000);
}

TEST_CASE("names that a second segment repeats are not counted twice") {
  TraceOnDisk trace;
  const std::string end = trace.lines.back();
  trace.lines.pop_back();
  trace.write();
  trace.lines = {line_of(test::header(1)),
                 line_of(test::gpu()),
                 line_of(test::path(1, 0, "model")),
                 line_of(test::kernel_name(1, "k")),
                 line_of(test::config(1)),
                 line_of(test::launch(3, 1)),
                 line_of(test::kernel(3, 1, 10, 20)),
                 end};
  trace.write(1);

  const TraceTotals totals = load_totals(open_trace_folder(trace.folder.path()));

  CHECK(totals.gpus.size() == 1);
  CHECK(totals.kernels == 3);
  CHECK(select_modules(totals, RowValues(totals), {})[0].gpu_ns == 3'010);
}

TEST_CASE(
    "paths of more levels than the profiler writes are damage, and no text of a path exceeds the limit") {
  constexpr std::uint32_t kLevels = 20'000;
  TraceOnDisk trace;
  trace.lines.resize(TraceOnDisk::kOuter);
  for (std::uint32_t id = 1; id <= kLevels; ++id) trace.lines.push_back(line_of(test::path(id, id - 1, "x")));
  trace.lines.insert(trace.lines.end(),
                     {line_of(test::kernel_name(1, "k")), line_of(test::config(1)),
                      line_of(test::launch(1, kLevels)), line_of(test::kernel(1, kLevels, 10, 20))});

  const TraceTotals totals = written_totals(trace);

  CHECK(totals.read.broken == kLevels - kMaxPathDepth);
  CHECK(totals.read.damage.find("path: 129 has more than 128 levels") != std::string::npos);
  CHECK(totals.paths.size() == kMaxPathDepth);
  CHECK(totals.path_text(kMaxPathDepth).size() == 2 * kMaxPathDepth - 1);  // x/x/…/x
  CHECK(totals.path_text(kLevels) == "(unknown)");
  std::uint64_t levels = 0;  // what every table of paths adds up
  for (const PathTotals& row : totals.totals.paths()) levels += row.depth;
  CHECK(levels <= kMaxPathDepth * (kMaxPathDepth + 1) / 2 + 1);
}

TEST_CASE("a summary that was replaced while its trace was read does not prove that lines are missing") {
  const TraceOnDisk trace;
  trace.write();
  const std::filesystem::path summary = trace.folder.path() / "summary.json";
  std::ofstream(summary) << R"({"schema":"rangefinder.summary","final":false,"records":7})";
  const CutEndCheck check(open_trace_folder(trace.folder.path()));
  CHECK(check.judge({.events = 7}).text.empty());
  CHECK(check.judge({.events = 6}).lines == 1);

  std::filesystem::last_write_time(summary,
                                   std::filesystem::last_write_time(summary) + std::chrono::hours(1));

  CHECK(check.judge({.events = 6}).text.empty());
}

TEST_CASE("a torn last line is excluded and reported") {
  TraceOnDisk trace;
  trace.lines.back() = trace.lines[TraceOnDisk::kKernel2].substr(0, 20);

  const TraceTotals totals = written_totals(trace);

  CHECK(totals.read.torn);
  CHECK(totals.read.torn_line == trace.lines.size());
  CHECK(totals.read.broken == 0);
  CHECK_FALSE(totals.end);
  CHECK(totals.kernels == 2);
}

TEST_CASE("a compressed segment reads like a plain one") {
  const TraceOnDisk trace;
  trace.write();
  compress(trace.segment());

  const TraceTotals totals = load_totals(open_trace_folder(trace.folder.path()));

  CHECK(totals.kernels == 2);
  CHECK(totals.end);
  CHECK_FALSE(totals.read.torn);
}

TEST_CASE("a compressed segment that was cut is torn, not an exception") {
  const TraceOnDisk trace;
  trace.write();
  compress(trace.segment(), 4);

  SegmentLines lines(trace.segment().string() + ".zst");
  std::string_view line;
  while (lines.next(line)) {
  }

  CHECK(lines.torn());
}

TEST_CASE("a line longer than one read is returned complete") {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "trace-00000.ndjson";
  const std::string giant(3'000'000, 'x');
  std::ofstream(file, std::ios::binary) << "a\n" << giant << "\nb\n";

  SegmentLines lines(file);
  std::string_view line;

  REQUIRE((lines.next(line) && line == "a"));
  REQUIRE((lines.next(line) && line == giant));
  REQUIRE((lines.next(line) && line == "b"));
  CHECK_FALSE(lines.next(line));
  CHECK(lines.number() == 3);
  CHECK_FALSE(lines.torn());
}

TEST_CASE("traces of several processes are found below a folder") {
  const test::TemporaryFolder folder;
  for (const char* const rank : {"rank=1", "rank=0"}) {
    std::filesystem::create_directories(folder.path() / rank / "pid=7");
    std::ofstream(folder.path() / rank / "pid=7" / "trace-00000.ndjson") << "";
  }

  const auto traces = find_traces(folder.path());

  REQUIRE(traces.size() == 2);
  CHECK(traces[0].folder == folder.path() / "rank=0" / "pid=7");
}

TEST_CASE("the module table is a tree with the last part of each path") {
  const std::string text = module_text(TraceOnDisk(), {}, {});

  test::check_has(text, {"\nmodel ", "\n  layer/0 ", "100.0 %"});
  test::check_lacks(text, {"DRAM"});
}

TEST_CASE("a flat module table has full paths, sorted, and respects top") {
  ModuleView view;
  view.flat = true;
  view.top = 1;
  view.sort = "host";

  const std::string text = module_text(TraceOnDisk(), view, {});

  test::check_has(text, {"\nmodel "});
  test::check_lacks(text, {"layer"});
}

TEST_CASE("measured bytes show their rate against the GPU's peak, declared ones the ratio") {
  TraceOnDisk trace;
  ExactRecord exact;
  exact.launch = test::launch(3, 2, 2);
  exact.name = 1;
  exact.measured = true;
  exact.gpu_ns = 1'000;
  exact.dram_read_bytes = 1'800'000;
  exact.dram_write_bytes = 600'000;
  exact.l2_bytes = 4'800'000;
  CategoryRecord category{0, 5, "rangefinder.bytes"};
  RangeRecord declared = test::range(3, 2, 1, 2);
  declared.extras = {5, 0, PayloadType::u64, 1'200'000, 0, {}};
  trace.lines[TraceOnDisk::kRange2] = line_of(category) + line_of(declared) + line_of(exact);

  test::check_has(module_text(trace),
                  {"2,400 GB/s   50.0 %", "1.20 MB", "2.00x", "4.00x", "DRAM / declared", "L2 / declared"});
}

TEST_CASE("the kernel table has short names") {
  const TraceTotals totals = written_totals(TraceOnDisk());

  test::check_has(render_text(kernel_rows(totals, RowValues(totals), {}), {}), {"\ngemm ", "1.50 us", "own"});
}
