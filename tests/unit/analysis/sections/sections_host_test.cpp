// SPDX-License-Identifier: Apache-2.0
//
// Sections about host threads: launches, sync, idle, iterations.
#include "tests/catch.h"
#include "tests/unit/analysis/sections/section_run.h"
#include "tools/analysis/read/missing.h"

using namespace rangefinder;
using test::call;
using test::copy_on;
using test::kernel_on;
using test::line_of;
using test::recorded;
using test::SectionRun;
using test::TraceOnDisk;

namespace {

std::string sync_line(TimeNs start, TimeNs end, std::uint32_t path = 0, std::uint32_t thread = 4711) {
  SyncRecord out;
  out.host = {start, end, thread, path, 0};
  out.api = "cuStreamSynchronize";
  out.context = 1;
  return line_of(out);
}

std::string range_line(std::uint64_t id, std::uint32_t path, TimeNs start, TimeNs end) {
  return line_of(test::range(id, path, start, end));
}

/// Ten iterations of "step" with a kernel of 10 us each. They take about 100 us, iteration `slow` 200 us.
void write_steps(TraceOnDisk& trace, int slow) {
  std::vector<std::string> lines{line_of(test::path(1, 0, "step"))};
  TimeNs at = 0;
  for (int i = 0; i < 10; ++i) {
    const auto id = static_cast<std::uint32_t>(i + 1);
    KernelRecord kernel = kernel_on(7, id, at + 20'000, at + 30'000, 1);
    kernel.work.range = id;
    // Vary by up to 2 us: without a spread there are no outliers.
    const TimeNs end = at + (i == slow ? 200'000 : 100'000 + i % 3 * 1'000);
    lines.push_back(line_of(call("cuLaunchKernel", id, at + 10'000, at + 12'000, 1)));
    lines.push_back(line_of(kernel));
    lines.push_back(range_line(id, 1, at, end));
    at = end + 5'000;
  }
  write_trace(trace, lines);
}

}  // namespace

TEST_CASE("launches: host time and time in the queue of a recorded model, by call") {
  const SectionRun run("launches", recorded("hf_rtdetr_trace"));

  const SectionRun::Where kernels{{"api", "cuLaunchKernel"}};
  CHECK(run.find("launches", kernels) == 0U);
  CHECK(run.number("launches", kernels, "count") == 3'034);
  CHECK(run.number("launches", kernels, "host_ns") == 96'197'895);
  CHECK(run.number("launches", kernels, "host_median_ns") == Approx(7'460).epsilon(0.01));
  CHECK(run.number("launches", kernels, "queue_median_ns") == Approx(1'685).epsilon(0.01));
  const SectionRun::Where copies{{"api", "cuMemcpyHtoDAsync"}};
  CHECK(run.number("launches", copies, "host_median_ns") == Approx(3'876).epsilon(0.01));
  CHECK(run.number("launches", copies, "queue_median_ns") == Approx(1'894).epsilon(0.01));
}

TEST_CASE("launches: sums by call and by path are equal") {
  const SectionRun run("launches", recorded("hf_rtdetr_trace"));

  const auto sum = [&run](const std::string& table, const std::string& key) {
    double out = 0;
    for (std::size_t i = 0; i < run.table(table).rows.size(); ++i) out += run.number(table, i, key);
    return out;
  };
  CHECK(run.table("launches_by_path").rows.size() > 300);
  CHECK(sum("launches_by_path", "host_ns") == sum("launches", "host_ns"));
  CHECK(sum("launches_by_path", "count") == 4'420);
}

TEST_CASE("launches: launches and records are joined in any order") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(call("cuLaunchKernel", 1, 100, 150)), line_of(kernel_on(7, 1, 350, 400)),
                      line_of(kernel_on(7, 2, 600, 700)), line_of(call("cuLaunchKernel", 2, 500, 550))});

  const SectionRun run("launches", trace.folder.path());

  CHECK(run.number("launches", 0U, "count") == 2);
  CHECK(run.number("launches", 0U, "queue_median_ns") == 50);
  CHECK(run.number("launches", 0U, "queue_p95_ns") == Approx(200).epsilon(0.01));
  CHECK(run.number("launches", 0U, "to_start_median_ns") == 100);
  CHECK(run.text("launches", 0U, "without_record").empty());
}

TEST_CASE("launches: a record that began before the call returned did not wait in the queue") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(call("cuLaunchKernel", 1, 100, 150)), line_of(kernel_on(7, 1, 120, 400))});

  CHECK(SectionRun("launches", trace.folder.path()).number("launches", 0U, "queue_median_ns") == 0);
}

TEST_CASE("launches: a graph waits until its earliest node starts") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(kernel_on(7, 1, 400, 450)), line_of(call("cuGraphLaunch", 1, 100, 150)),
                      line_of(kernel_on(13, 1, 200, 300))});

  CHECK(SectionRun("launches", trace.folder.path()).number("launches", 0U, "queue_median_ns") == 50);
}

TEST_CASE("launches: failed calls and calls without a record are counted separately") {
  TraceOnDisk trace;
  LaunchRecord failed = call("cuLaunchKernel", 2, 200, 210);
  failed.result = 700;
  write_trace(trace, {line_of(call("cuLaunchKernel", 1, 100, 110)), line_of(failed)});

  const SectionRun run("launches", trace.folder.path());

  CHECK(run.number("launches", 0U, "failed") == 1);
  CHECK(run.number("launches", 0U, "without_record") == 1);
}

TEST_CASE("sync: waits of a recorded model by path, longest first") {
  const SectionRun run("sync", recorded("hf_rtdetr_trace"));

  const SectionRun::Where first{{"path", "H2D"}, {"api", "cuStreamSynchronize"}};
  CHECK(run.find("sync", first) == 0U);
  CHECK(run.number("sync", first, "count") == 765);
  CHECK(run.number("sync", first, "total_ns") == 5'384'363);
  CHECK(run.number("sync", {{"path", "model"}}, "total_ns") == 132'556);
  CHECK(run.number("sync", {{"path", "(outside of any range)"}, {"api", "cuCtxSynchronize"}}, "count") == 2);
  CHECK(run.number("sync_threads", 0U, "count") == 786);
}

TEST_CASE("sync: the share is of the time from the thread's first to its last line") {
  TraceOnDisk trace;
  write_trace(trace,
              {line_of(call("cuLaunchKernel", 1, 0, 100)), sync_line(100, 600), sync_line(700, 1'000)});

  const SectionRun run("sync", trace.folder.path());

  CHECK(run.number("sync", 0U, "thread_share") == Approx(0.8));
  CHECK(run.number("sync", 0U, "mean_ns") == 400);
  CHECK(run.number("sync", 0U, "max_ns") == 500);
}

TEST_CASE("sync: a synchronous copy counts as waiting, an asynchronous copy does not") {
  TraceOnDisk trace;
  write_trace(trace,
              {line_of(call("cuMemcpyDtoH", 1, 0, 300)), line_of(call("cuMemcpyDtoHAsync", 2, 300, 900)),
               line_of(call("cuMemcpyDtoD", 3, 900, 1'000))});

  const SectionRun run("sync", trace.folder.path());

  REQUIRE(run.table("sync").rows.size() == 1);
  CHECK(run.text("sync", 0U, "api") == "cuMemcpyDtoH");
  CHECK(run.text("sync", 0U, "waits_for") == "its copy");
  CHECK(run.number("sync", 0U, "total_ns") == 300);
}

TEST_CASE("sync: each thread has its own row, with its name") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(ThreadRecord{12, "loader"}), sync_line(0, 100), sync_line(0, 300, 0, 12)});

  const SectionRun run("sync", trace.folder.path());

  CHECK(run.text("sync", 0U, "thread") == "12 loader");
  CHECK(run.text("sync", 1U, "thread") == "4711");
}

TEST_CASE("idle: a gap is split over the host's ranges and the calls in them") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(test::path(1, 0, "loader")), line_of(test::path(2, 0, "model")),
                      line_of(call("cuLaunchKernel", 1, 0, 10)), line_of(kernel_on(7, 1, 100, 200)),
                      line_of(call("cuLaunchKernel", 2, 850, 890, 2)), line_of(kernel_on(7, 2, 900, 1'000)),
                      sync_line(150, 300, 1), range_line(1, 1, 150, 700), range_line(2, 2, 700, 950)});

  const SectionRun run("idle", trace.folder.path());

  const SectionRun::Where loader{{"path", "loader"}}, model{{"path", "model"}};
  CHECK(run.number("idle", loader, "idle_ns") == 500);
  CHECK(run.number("idle", loader, "in_sync_ns") == 100);
  CHECK(run.number("idle", loader, "own_code_ns") == 400);
  CHECK(run.number("idle", model, "idle_ns") == 200);
  CHECK(run.number("idle", model, "in_launch_ns") == 40);
  CHECK(run.number("idle", model, "own_code_ns") == 160);
  CHECK(run.number("idle", loader, "idle_share") == Approx(5.0 / 7));
  CHECK(run.number("idle", loader, "span_share") == Approx(5.0 / 9));
  CHECK(run.number("idle", loader, "gaps") == 1);
  CHECK(run.number("idle_sizes", {{"length", "under 2 us"}}, "idle_ns") == 700);
}

TEST_CASE("idle: rows by path and by gap length both add up to all idle time") {
  const SectionRun run("idle", recorded("hf_rtdetr_trace"));

  double by_path = 0, by_length = 0;
  for (std::size_t i = 0; i < run.table("idle").rows.size(); ++i) by_path += run.number("idle", i, "idle_ns");
  for (std::size_t i = 0; i < 5; ++i) by_length += run.number("idle_sizes", i, "idle_ns");
  CHECK(by_path == 4'691'487'374 - 15'996'339);
  CHECK(by_length == by_path);
}

TEST_CASE("idle: uses the thread with most launches, not the first thread") {
  TraceOnDisk trace;
  LaunchRecord once = call("cuLaunchKernel", 9, 0, 5, 1);
  once.host.thread = 12;
  RangeRecord other = test::range(9, 1, 0, 1'000);
  other.thread = 12;
  write_trace(trace, {line_of(test::path(1, 0, "other")), line_of(test::path(2, 0, "mine")), line_of(once),
                      line_of(call("cuLaunchKernel", 1, 10, 20)), line_of(kernel_on(7, 1, 100, 200)),
                      line_of(call("cuLaunchKernel", 2, 30, 40)), line_of(kernel_on(7, 2, 300, 400)),
                      range_line(1, 2, 0, 500), line_of(other)});

  const SectionRun run("idle", trace.folder.path());

  REQUIRE(run.table("idle").rows.size() == 1);
  CHECK(run.text("idle", 0U, "path") == "mine");
}

TEST_CASE("iterations: only an iteration that took twice as long is an outlier") {
  TraceOnDisk trace;
  write_steps(trace, 6);

  const SectionRun run("iterations", trace.folder.path());

  REQUIRE(run.table("iterations").rows.size() == 10);
  CHECK(run.text("iterations", 6U, "outlier") == "slow on host");
  CHECK(run.text("iterations", 5U, "outlier").empty());
  CHECK(run.number("iterations", 6U, "host_ns") == 200'000);
  CHECK(run.number("iterations", 6U, "kernels") == 1);
  CHECK(run.number("iterations", 6U, "gpu_ns") == 10'000);
  CHECK(run.number("iterations", 6U, "launches") == 1);
}

TEST_CASE("iterations: the summary has the statistics of the rows") {
  TraceOnDisk trace;
  write_steps(trace, 6);

  const SectionRun run("iterations", trace.folder.path());

  const auto statistic = [&run](const char* name) {
    return run.number("iterations_summary", {{"statistic", name}}, "host_ns");
  };
  // 100, 101, 102, 100, 101, 102, 200, 101, 102, 100 us
  CHECK(statistic("mean") == Approx(110'900));
  CHECK(statistic("median") == 101'000);
  CHECK(statistic("stddev") == Approx(31'317.37));
  CHECK(statistic("min") == 100'000);
  CHECK(statistic("max") == 200'000);
}

TEST_CASE("iterations: selected iterations keep their numbers") {
  TraceOnDisk trace;
  write_steps(trace, 6);
  SelectionOptions selected;
  selected.iterations.first = 2;
  selected.iterations.last = 4;

  const SectionRun run("iterations", trace.folder.path(), {}, selected);

  REQUIRE(run.table("iterations").rows.size() == 2);
  CHECK(run.number("iterations", 0U, "iteration") == 2);
}

TEST_CASE("iterations: bytes and times of a recorded run match its lines") {
  const SectionRun run("iterations", recorded("rtdetr_exact"));

  REQUIRE(run.table("iterations").rows.size() == 10);
  CHECK(run.table("iterations").title == "Iterations: iteration");
  CHECK(run.number("iterations", 0U, "host_ns") == 53'987'820);
  CHECK(run.number("iterations", 1U, "host_ns") == 13'484'664);
  CHECK(run.number("iterations", 0U, "dram_read_bytes") == 100'822'528);
  CHECK(run.number("iterations", 2U, "dram_read_bytes") == 100'700'160);
}

TEST_CASE("iterations: a range can be named, and an unknown range throws Missing") {
  SectionView view;
  view.name = "model/backbone";
  SectionView wrong;
  wrong.name = "nothing";

  const SectionRun run("iterations", recorded("hf_rtdetr_trace"), view);

  CHECK(run.table("iterations").title == "Iterations: model/backbone");
  CHECK(run.table("iterations").rows.size() == 3);
  CHECK_THROWS_AS(SectionRun("iterations", recorded("hf_rtdetr_trace"), wrong), Missing);
}
