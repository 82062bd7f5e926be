// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <fstream>

#include "tests/catch.h"
#include "tests/unit/analysis/read/trace_on_disk.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/read/segment_lines.h"
#include "tools/analysis/read/trace_files.h"
#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/tables/kernel_table.h"
#include "tools/analysis/tables/module_table.h"

using namespace rangefinder;
using test::content;
using test::line_of;
using test::TraceOnDisk;

namespace {

TraceTotals load(const TraceOnDisk& trace) {
  return load_trace(open_trace_folder(trace.folder.path()));
}

/// Replaces a segment by its compressed form, cut by `cut` bytes.
void compress(const std::filesystem::path& path, std::size_t cut = 0) {
  const std::string plain = content(path);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 1) - cut);
  std::ofstream(path.string() + ".zst", std::ios::binary) << packed;
  std::filesystem::remove(path);
}

std::string table_of(const TraceOnDisk& trace, const ModuleView& view = {}, const TextStyle& style = {}) {
  const TraceTotals totals = load(trace);
  return module_table(totals, load_row_values(totals), view, style);
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
  trace.write();

  CHECK(load(trace).copies == 1);
}

TEST_CASE("totals by path include its children") {
  const TraceOnDisk trace;
  trace.write();

  const TraceTotals totals = load(trace);

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

  const TraceTotals totals = load(trace);

  CHECK(totals.gpus.size() == 1);
  CHECK(totals.kernels == 3);
  CHECK(select_modules(totals, RowValues(totals), {})[0].gpu_ns == 3'010);
}

TEST_CASE("a torn last line is excluded and reported") {
  TraceOnDisk trace;
  trace.lines.back() = trace.lines[TraceOnDisk::kKernel2].substr(0, 20);
  trace.write();

  const TraceTotals totals = load(trace);

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

  const TraceTotals totals = load(trace);

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

TEST_CASE("a place without a trace is Missing") {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "trace-00000.ndjson") << "{\"a\":1}\n";

  CHECK_THROWS_AS(find_traces(folder.path() / "nowhere"), Missing);
  CHECK_THROWS_AS(load_trace(open_trace_folder(folder.path())), Missing);
  std::filesystem::remove(folder.path() / "trace-00000.ndjson");
  CHECK_THROWS_AS(find_traces(folder.path()), Missing);
}

TEST_CASE("the module table is a tree with the last part of each path") {
  const TraceOnDisk trace;
  trace.write();

  const std::string text = table_of(trace);

  CHECK(text.find("\nmodel ") != std::string::npos);
  CHECK(text.find("\n  layer/0 ") != std::string::npos);
  CHECK(text.find("100.0 %") != std::string::npos);
  CHECK(text.find("DRAM") == std::string::npos);
}

TEST_CASE("a flat module table has full paths, sorted, and respects top") {
  const TraceOnDisk trace;
  trace.write();
  ModuleView view;
  view.flat = true;
  view.top = 1;
  view.sort = "host";

  const std::string text = table_of(trace, view);

  CHECK(text.find("\nmodel ") != std::string::npos);
  CHECK(text.find("layer") == std::string::npos);
}

TEST_CASE("measured bytes show their rate against the GPU's peak, declared ones the amplification") {
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
  declared.extras.category = 5;
  declared.extras.payload_type = PayloadType::u64;
  declared.extras.payload = 1'200'000;
  trace.lines[TraceOnDisk::kRange2] = line_of(category) + line_of(declared) + line_of(exact);
  trace.write();

  const std::string text = table_of(trace, {}, {0, false});

  CHECK(text.find("2,400 GB/s   50.0 %") != std::string::npos);
  CHECK(text.find("1.20 MB") != std::string::npos);
  CHECK(text.find("2.00x") != std::string::npos);
  CHECK(text.find("4.00x") != std::string::npos);
}

TEST_CASE("the kernel table has short names") {
  const TraceOnDisk trace;
  trace.write();

  const TraceTotals totals = load(trace);
  const std::string text = kernel_table(totals, RowValues(totals), {}, {});

  CHECK(text.find("\ngemm<…> ") != std::string::npos);
  CHECK(text.find("1.50 us") != std::string::npos);
  CHECK(text.find("own") != std::string::npos);
}
