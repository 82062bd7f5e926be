// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/validate/salvage.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/catch.h"
#include "tests/unit/analysis/model/read_once.h"
#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tests/unit/analysis/validate/validated.h"
#include "tools/analysis/model/missing.h"

using namespace rangefinder;
using test::content;
using test::line_of;
using test::shown;
using test::TraceOnDisk;
namespace fs = std::filesystem;

namespace {

TraceFolder files_of(const TraceOnDisk& trace) {
  return open_trace_folder(trace.folder.path());
}

/// A trace salvaged into its own folder.
struct Salvaged {
  test::TemporaryFolder beside;
  fs::path place = beside.path() / "whole";
  Salvage result;

  explicit Salvaged(const TraceOnDisk& trace) {
    trace.write();
    result = salvage_trace(files_of(trace), place);
    INFO(shown(result.after));
    CHECK(result.done);
  }
  [[nodiscard]] TraceTotals totals() const { return test::load_totals(open_trace_folder(place)); }
  [[nodiscard]] std::uint64_t lost(Loss cause) const {
    return totals().loss[static_cast<std::size_t>(cause)];
  }
};

}  // namespace

TEST_CASE("a truncated trace keeps its valid lines byte for byte and gets a valid end") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kEnd].resize(30);

  const Salvaged salvaged(trace);

  CHECK(salvaged.result.kept == trace.lines.size() - 1);
  CHECK(salvaged.result.dropped == 1);
  std::string whole;
  for (std::size_t i = 0; i + 1 < trace.lines.size(); ++i) whole += trace.lines[i];
  const std::string text = content(salvaged.place / "trace-00000.ndjson");
  CHECK(text.substr(0, whole.size()) == whole);
  CHECK(validate_trace(open_trace_folder(salvaged.place), true).valid());
  const TraceTotals totals = salvaged.totals();
  REQUIRE(totals.end);
  CHECK(totals.end->reason == "salvaged");
  CHECK(totals.end->balance[0].recorded == 2);
  CHECK(salvaged.lost(Loss::lines_not_written) == 1);
}

TEST_CASE("a stack without its frame is dropped with the samples of it; other stacks stay byte for byte") {
  TraceOnDisk trace;
  std::string& names = trace.lines[TraceOnDisk::kInner];
  names += line_of(FrameRecord{1, "main", "app.py", 10}) + line_of(StackRecord{1, 0, 1});
  const std::string lost =
      line_of(StackRecord{2, 1, 2}) + line_of(StackRecord{3, 2, 1});  // no line of frame 2
  names += lost;
  const StackSampleRecord whole{1'000, 21'000, 4711, 10'000, {{0, 1}, {10, 1}}};
  const StackSampleRecord of_lost{21'000, 41'000, 4711, 10'000, {{0, 1}, {10, 3}}};
  trace.lines[TraceOnDisk::kFlush] += line_of(whole) + line_of(of_lost);
  trace.lines[TraceOnDisk::kEnd].clear();
  std::string wanted;
  for (const std::string& line : trace.lines) wanted += line;
  for (const std::string& dropped : {lost, line_of(of_lost)})
    wanted.erase(wanted.find(dropped), dropped.size());

  const Salvaged salvaged(trace);

  CHECK(salvaged.result.dropped == 3);
  const std::string text = content(salvaged.place / "trace-00000.ndjson");
  CHECK(text.substr(0, wanted.size()) == wanted);
  const TraceTotals totals = salvaged.totals();
  REQUIRE(totals.end);
  CHECK(totals.end->at_ns == whole.end_ns);
  CHECK(std::count(totals.end->records.begin(), totals.end->records.end(),
                   std::pair<std::string, std::uint64_t>{"stack_sample", 1}) == 1);
}

TEST_CASE("a launch whose record was cut off is lost, and the ledger adds up") {
  TraceOnDisk trace;
  trace.lines.resize(TraceOnDisk::kKernel2);

  const Salvaged salvaged(trace);

  const TraceTotals totals = salvaged.totals();
  const LaunchBalance& kernels = totals.end->balance[0];
  CHECK((kernels.launched == 2 && kernels.recorded == 1 && kernels.lost == 1));
  CHECK(salvaged.lost(Loss::launch_without_record) == 1);
  CHECK(salvaged.lost(Loss::nvtx_unclosed) == 2);
  CHECK(salvaged.lost(Loss::lines_not_written) == 0);
}

TEST_CASE("lines that refer to an unreadable name are dropped too") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kInner][5] = '\0';

  const Salvaged salvaged(trace);

  CHECK(salvaged.result.dropped == 4);  // the path, a launch, its kernel and their range
  CHECK(salvaged.totals().kernels == 1);
}

TEST_CASE("a launch made during a stream capture is not counted") {
  TraceOnDisk trace;
  CaptureRecord begin;
  begin.host = {100, 101, 4711, 0, 0};
  CaptureRecord end = begin;
  end.step = CaptureStep::end;
  LaunchRecord captured = test::launch(9, 1, 1);
  trace.lines[TraceOnDisk::kConfig] += line_of(begin) + line_of(captured) + line_of(end);
  trace.lines.pop_back();

  const Salvaged salvaged(trace);

  CHECK(salvaged.totals().end->balance[0].launched == 2);
  CHECK(salvaged.lost(Loss::launch_without_record) == 0);
}

TEST_CASE("a summary that counts dropped lines is no longer final") {
  TraceOnDisk trace;
  trace.lines.pop_back();
  std::ofstream(trace.folder.path() / "summary.json")
      << R"({"schema":"rangefinder.summary","final":true,"modules":[{"path":"more","calls":9}]})";

  const Salvaged salvaged(trace);

  CHECK(content(salvaged.place / "summary.json").find("\"final\":false") != std::string::npos);
}

TEST_CASE("in place a trace whose program may still be writing is refused") {
  TraceOnDisk trace;
  Header running = test::header();
  char host[256] = {};
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  running.host = host;
  running.pid = static_cast<std::uint32_t>(getpid());
  trace.lines[TraceOnDisk::kHeader] = line_of(running);
  trace.lines.pop_back();
  trace.write();

  CHECK_THROWS_AS(salvage_trace(files_of(trace), {}), Missing);
}

TEST_CASE("a trace that stays invalid is refused, and no files remain") {
  TraceOnDisk trace;
  trace.lines[TraceOnDisk::kGpu].clear();
  trace.write();
  const test::TemporaryFolder beside;

  const Salvage result = salvage_trace(files_of(trace), beside.path() / "whole");

  CHECK_FALSE(result.done);
  CHECK_FALSE(result.after.valid());
  CHECK(fs::is_empty(beside.path()));
}
