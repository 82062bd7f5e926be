// SPDX-License-Identifier: Apache-2.0
//
// Sections about host threads: launches, sync, idle, iterations.
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"
#include "tools/analysis/model/missing.h"

using namespace rangefinder;
using test::call;
using test::copy_on;
using test::kernel_on;
using test::line_of;
using test::recorded;
using test::run_over;
using test::SectionRun;
using test::TraceOnDisk;

namespace {

std::string sync_line(TimeNs start, TimeNs end, std::uint32_t path = 0, std::uint32_t thread = 4711) {
  return line_of(SyncRecord{{start, end, thread, path, 0}, "cuStreamSynchronize", 1, 0, 0});
}

std::string hold_line(TimeNs start, TimeNs end, std::uint32_t thread = 4711) {
  return line_of(HoldRecord{start, end, thread, HoldCause::counter_batch});
}

std::string range_line(std::uint64_t id, std::uint32_t path, TimeNs start, TimeNs end) {
  return line_of(test::range(id, path, start, end));
}

/// Ten iterations of "step" with a kernel of 10 us each. They take about 100 us, iteration `slow` 200 us.
/// `held`: of these, 100 us in which the profiler held the thread.
void write_steps(TraceOnDisk& trace, int slow, bool held = false, bool away = false) {
  std::vector<std::string> lines{line_of(test::path(1, 0, "step"))};
  TimeNs at = 0;
  for (int i = 0; i < 10; ++i) {
    const auto id = static_cast<std::uint32_t>(i + 1);
    KernelRecord kernel = kernel_on(7, id, at + 20'000, at + 30'000, 1);
    kernel.work.range = id;
    // Vary by up to 2 us: without a spread there are no outliers.
    const TimeNs end = at + (i == slow ? 200'000 : 100'000 + i % 3 * 1'000);
    if (held && i == slow) lines.push_back(hold_line(at + 10'500, at + 110'500));
    lines.push_back(line_of(call("cuLaunchKernel", id, at + 10'000, at + 12'000, 1)));
    lines.push_back(line_of(kernel));
    if (away && i == slow) lines.push_back(line_of(GapRecord{at + 40'000, at + 100'000, "torch.profiler"}));
    lines.push_back(range_line(id, 1, at, end));
    at = end + 5'000;
  }
  write_trace(trace, lines);
}

/// Iterations of "step" that take these times.
void write_spans(TraceOnDisk& trace, const std::vector<TimeNs>& spans) {
  std::vector<std::string> lines{line_of(test::path(1, 0, "step"))};
  TimeNs at = 0;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    lines.push_back(range_line(i + 1, 1, at, at + spans[i]));
    at += spans[i] + 5'000;
  }
  write_trace(trace, lines);
}

}  // namespace

TEST_CASE("launches: host time and time in the queue of a recorded model, by call") {
  const SectionRun run("launches", recorded("hf_rtdetr_trace"));

  const SectionRun::Where kernels{{"api", "cuLaunchKernel"}};
  CHECK(run.find("launches", kernels) == 0U);
  run.check("launches", kernels, {{"count", 9'964}, {"host_ns", 110'509'068}});
  run.check(
      "launches", kernels,
      {{"host_median_ns", Approx(4'640).epsilon(0.01)}, {"queue_median_ns", Approx(2'192).epsilon(0.01)}});
  run.check(
      "launches", {{"api", "cuMemcpyHtoDAsync"}},
      {{"host_median_ns", Approx(4'384).epsilon(0.01)}, {"queue_median_ns", Approx(1'592).epsilon(0.01)}});
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
  CHECK(sum("launches_by_path", "count") == 12'792);
}

TEST_CASE("launches: launches and records are joined in any order") {
  const SectionRun run = run_over(
      "launches", {line_of(call("cuLaunchKernel", 1, 100, 150)), line_of(kernel_on(7, 1, 350, 400)),
                   line_of(kernel_on(7, 2, 600, 700)), line_of(call("cuLaunchKernel", 2, 500, 550))});

  run.check("launches", 0U, {{"count", 2}, {"to_start_median_ns", 100}, {"without_record", ""}});
  run.check("launches", 0U, {{"queue_median_ns", 50}, {"queue_p95_ns", Approx(200).epsilon(0.01)}});
}

TEST_CASE("launches: a record that began before the call returned did not wait in the queue") {
  run_over("launches", {line_of(call("cuLaunchKernel", 1, 100, 150)), line_of(kernel_on(7, 1, 120, 400))})
      .check("launches", 0U, {{"queue_median_ns", 0}});
}

TEST_CASE("launches: a graph waits until its earliest node starts") {
  run_over("launches", {line_of(kernel_on(7, 1, 400, 450)), line_of(call("cuGraphLaunch", 1, 100, 150)),
                        line_of(kernel_on(13, 1, 200, 300))})
      .check("launches", 0U, {{"queue_median_ns", 50}});
}

TEST_CASE("launches: failed calls and calls without a record are counted separately") {
  LaunchRecord failed = call("cuLaunchKernel", 2, 200, 210);
  failed.result = 700;
  run_over("launches", {line_of(call("cuLaunchKernel", 1, 100, 110)), line_of(failed)})
      .check("launches", 0U, {{"failed", 1}, {"without_record", 1}});
}

TEST_CASE("sync: waits of a recorded model by path, longest first") {
  const SectionRun run("sync", recorded("hf_rtdetr_trace"));

  const SectionRun::Where first{{"path", "H2D"}, {"api", "cuStreamSynchronize"}};
  CHECK(run.find("sync", first) == 0U);
  run.check("sync", first, {{"count", 765}, {"total_ns", 4'652'908}});
  run.check("sync", {{"path", "step/model"}}, {{"total_ns", 374'301}});
  run.check("sync", {{"path", "(outside of any range)"}, {"api", "cuCtxSynchronize"}}, {{"count", 2}});
  run.check("sync_threads", 0U, {{"count", 828}});
}

TEST_CASE("sync: the share is of the time from the thread's first to its last line") {
  run_over("sync", {line_of(call("cuLaunchKernel", 1, 0, 100)), sync_line(100, 600), sync_line(700, 1'000)})
      .check("sync", 0U, {{"thread_share", Approx(0.8)}, {"mean_ns", 400}, {"max_ns", 500}});
}

TEST_CASE("sync: a synchronous copy counts as waiting, an asynchronous copy does not") {
  const SectionRun run = run_over(
      "sync", {line_of(call("cuMemcpyDtoH", 1, 0, 300)), line_of(call("cuMemcpyDtoHAsync", 2, 300, 900)),
               line_of(call("cuMemcpyDtoD", 3, 900, 1'000))});

  REQUIRE(run.table("sync").rows.size() == 1);
  run.check("sync", 0U, {{"api", "cuMemcpyDtoH"}, {"waits_for", "its copy"}, {"total_ns", 300}});
}

TEST_CASE("sync: each thread has its own row, with its name") {
  const SectionRun run =
      run_over("sync", {line_of(ThreadRecord{12, "loader"}), sync_line(0, 100), sync_line(0, 300, 0, 12)});

  run.check("sync", 0U, {{"thread", "12 loader"}});
  run.check("sync", 1U, {{"thread", "4711"}});
}

TEST_CASE("idle: a gap is split over the host's ranges and the calls in them") {
  const SectionRun run =
      run_over("idle", {line_of(test::path(1, 0, "loader")), line_of(test::path(2, 0, "model")),
                        line_of(call("cuLaunchKernel", 1, 0, 10)), line_of(kernel_on(7, 1, 100, 200)),
                        line_of(call("cuLaunchKernel", 2, 850, 890, 2)), line_of(kernel_on(7, 2, 900, 1'000)),
                        sync_line(150, 300, 1), range_line(1, 1, 150, 700), range_line(2, 2, 700, 950)});

  const SectionRun::Where loader{{"path", "loader"}};
  run.check("idle", loader, {{"idle_ns", 500}, {"in_sync_ns", 100}, {"own_code_ns", 400}, {"gaps", 1}});
  run.check("idle", loader, {{"idle_share", Approx(5.0 / 7)}, {"span_share", Approx(5.0 / 9)}});
  run.check("idle", {{"path", "model"}}, {{"idle_ns", 200}, {"in_launch_ns", 40}, {"own_code_ns", 160}});
  run.check("idle_sizes", {{"length", "under 2 us"}}, {{"idle_ns", 700}});
}

TEST_CASE("idle: time in which only copies ran is idle, as in the overview") {
  const SectionRun run("idle", recorded("case_overlap"));
  double idle = 0;
  for (std::size_t i = 0; i < run.table("idle").rows.size(); ++i) idle += run.number("idle", i, "span_share");

  CHECK(idle == Approx(0.162).margin(0.0005));  // GPU idle 16.2 %
  run.check("idle", {{"path", "(only copies ran)"}},
            {{"own_code_ns", ""}, {"span_share", Approx(0.117).margin(0.001)}});
}

TEST_CASE("idle: rows by path and by gap length both add up to all idle time") {
  const SectionRun run("idle", recorded("hf_rtdetr_trace"));

  double by_path = 0, by_length = 0;
  for (std::size_t i = 0; i < run.table("idle").rows.size(); ++i)
    by_path += run.text("idle", i, "path") == "(only copies ran)" ? 0 : run.number("idle", i, "idle_ns");
  for (std::size_t i = 0; i < 5; ++i) by_length += run.number("idle_sizes", i, "idle_ns");
  CHECK(by_path == 3'082'971'902 - 43'733'046);
  CHECK(by_length == by_path);
}

TEST_CASE("idle: uses the thread with most launches, not the first thread") {
  LaunchRecord once = call("cuLaunchKernel", 9, 0, 5, 1);
  once.host.thread = 12;
  RangeRecord other = test::range(9, 1, 0, 1'000);
  other.thread = 12;
  const SectionRun run =
      run_over("idle", {line_of(test::path(1, 0, "other")), line_of(test::path(2, 0, "mine")), line_of(once),
                        line_of(call("cuLaunchKernel", 1, 10, 20)), line_of(kernel_on(7, 1, 100, 200)),
                        line_of(call("cuLaunchKernel", 2, 30, 40)), line_of(kernel_on(7, 2, 300, 400)),
                        range_line(1, 2, 0, 500), line_of(other)});

  REQUIRE(run.table("idle").rows.size() == 1);
  CHECK(run.text("idle", 0U, "path") == "mine");
}

TEST_CASE("iterations: only an iteration that took twice as long is an outlier, and the summary is right") {
  TraceOnDisk trace;
  write_steps(trace, 6);

  const SectionRun run("iterations", trace.folder.path());

  REQUIRE(run.table("iterations").rows.size() == 10);
  run.check("iterations", 5U, {{"outlier", ""}});
  run.check("iterations", 6U, {{"outlier", "slow on host"}, {"host_ns", 200'000}});
  run.check("iterations", 6U, {{"kernels", 1}, {"gpu_ns", 10'000}, {"launches", 1}});
  // 101, 102, 100, 101, 102, 200, 101, 102, 100 us: without the first, which warms up
  const std::pair<const char*, double> statistics[] = {{"mean", 1'009'000 / 9.0},
                                                       {"median", 101'000},
                                                       {"stddev", 32'967.58},
                                                       {"min", 100'000},
                                                       {"max", 200'000}};
  for (const auto& [name, ns] : statistics)
    run.check("iterations_summary", {{"statistic", name}}, {{"host_ns", Approx(ns)}});
}

TEST_CASE("iterations: the first one and slow ones after it warm up, and are in no statistics") {
  TraceOnDisk trace;
  write_spans(trace,
              {900'000, 400'000, 350'000, 100'000, 101'000, 99'000, 98'000, 320'000, 102'000, 103'000});

  const SectionRun run("iterations", trace.folder.path());

  run.check("iterations", 0U, {{"warm_up", "first"}, {"outlier", ""}});
  run.check("iterations", 1U, {{"warm_up", "slow"}, {"outlier", ""}});
  run.check("iterations", 2U, {{"warm_up", "slow"}});
  run.check("iterations", 3U, {{"warm_up", ""}});
  run.check("iterations", 7U, {{"warm_up", ""}, {"outlier", "slow on host"}});  // not at the start
  run.check("iterations_summary", {{"statistic", "max"}}, {{"host_ns", 320'000}});
}

TEST_CASE("iterations: a difference of 2 % is no outlier, however alike the others are") {
  TraceOnDisk trace;
  write_spans(trace, {100'000, 100'000, 100'010, 99'990, 102'000, 100'020, 100'010, 99'990, 106'000});

  const SectionRun run("iterations", trace.folder.path());

  run.check("iterations", 4U, {{"outlier", ""}});
  run.check("iterations", 8U, {{"outlier", "slow on host"}});
}

TEST_CASE("iterations: two of them have no warm-up") {
  TraceOnDisk trace;
  write_spans(trace, {900'000, 100'000});
  const SectionRun run("iterations", trace.folder.path());
  run.check("iterations", 0U, {{"warm_up", ""}});
  run.check("iterations_summary", {{"statistic", "max"}}, {{"host_ns", 900'000}});
}

TEST_CASE("iterations: JSON has the path and the rule that found it") {
  TraceOnDisk trace;
  write_spans(trace, {100'000, 100'000, 100'000});
  const SectionRun run("iterations", trace.folder.path());
  const nlohmann::ordered_json json = run.made->json(run.input());
  CHECK(json.at("iteration_path") == "step");
  CHECK(json.at("iteration_rule") == "named");
  CHECK(json.at("iterations").size() == 3);
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
  CHECK(run.table("iterations").title == "Iterations: iteration (a range named like an iteration)");
  run.check("iterations", 0U, {{"host_ns", 53'987'820}, {"dram_read_bytes", 100'822'528}});
  run.check("iterations", 1U, {{"host_ns", 13'484'664}});
  run.check("iterations", 2U, {{"dram_read_bytes", 100'700'160}});
}

TEST_CASE(
    "iterations: a recorded decoder that replays a graph outside of any range iterates over the graph") {
  const SectionRun run("iterations", recorded("decoder_exact"));

  CHECK(run.table("iterations").title == "Iterations: graph 2 (launches of one CUDA graph)");
  run.check("iterations", 0U, {{"kernels", 336}, {"launches", 1}, {"warm_up", "first"}});
  run.check("iterations", 2U,
            {{"kernels", 336}, {"launches", 1}, {"dram_read_bytes", Approx(4.03e9).epsilon(0.01)}});
}

TEST_CASE("iterations: a range can be named, and an unknown range throws Missing") {
  SectionView view;
  view.name = "step/model/backbone";
  SectionView wrong;
  wrong.name = "nothing";

  const SectionRun run("iterations", recorded("hf_rtdetr_trace"), view);

  CHECK(run.table("iterations").title == "Iterations: step/model/backbone (given by --iteration-range)");
  CHECK(run.table("iterations").rows.size() == 10);
  CHECK_THROWS_AS(SectionRun("iterations", recorded("hf_rtdetr_trace"), wrong), Missing);
}

TEST_CASE("launches: the host time of a call and its way to the GPU leave out a hold in it") {
  const SectionRun run = run_over(
      "launches", {hold_line(110, 140), hold_line(100, 150, 12), line_of(call("cuLaunchKernel", 1, 100, 150)),
                   line_of(kernel_on(7, 1, 250, 300))});

  run.check("launches", 0U, {{"host_ns", 20}, {"queue_median_ns", 100}, {"to_start_median_ns", 120}});
}

TEST_CASE("sync: a wait leaves out a hold in it") {
  run_over("sync", {hold_line(100, 300), sync_line(0, 500)}).check("sync", 0U, {{"total_ns", 300}});
}

TEST_CASE("idle: the part of a gap in which the thread was held is no range's") {
  const SectionRun run =
      run_over("idle", {line_of(test::path(1, 0, "model")), line_of(call("cuLaunchKernel", 1, 0, 10, 1)),
                        line_of(kernel_on(7, 1, 100, 200)), hold_line(310, 810),
                        line_of(call("cuLaunchKernel", 2, 300, 890, 1)), line_of(kernel_on(7, 2, 900, 1'000)),
                        range_line(1, 1, 0, 950)});

  run.check("idle", {{"path", "(held by the profiler)"}},
            {{"idle_ns", 500}, {"gaps", 1}, {"in_launch_ns", ""}, {"own_code_ns", ""}});
  run.check("idle", {{"path", "model"}}, {{"idle_ns", 200}, {"in_launch_ns", 90}, {"longest_ns", 200}});
}

TEST_CASE("iterations: time in which the profiler held the thread makes no iteration slow") {
  TraceOnDisk trace;
  write_steps(trace, 6, true);

  const SectionRun run("iterations", trace.folder.path());

  run.check("iterations", 6U, {{"outlier", ""}, {"host_ns", 100'000}, {"held_ns", 100'000}});
  run.check("iterations", 5U, {{"held_ns", ""}});
}

TEST_CASE("idle: time in which another tool had CUPTI is not idle") {
  const SectionRun run =
      run_over("idle", {line_of(call("cuLaunchKernel", 1, 0, 10)), line_of(kernel_on(7, 1, 100, 200)),
                        line_of(GapRecord{300, 800, "torch.profiler"}),
                        line_of(call("cuLaunchKernel", 2, 820, 830)), line_of(kernel_on(7, 2, 900, 1'000))});

  CHECK(run.table("idle").rows.size() == 1);
  run.check("idle", 0U, {{"idle_ns", 200}, {"gaps", 2}, {"longest_ns", 100}});
}

TEST_CASE("iterations: one in which another tool had CUPTI is in no statistics") {
  const auto steps = [](bool away) {
    TraceOnDisk trace;
    write_steps(trace, 6, false, away);
    return SectionRun("iterations", trace.folder.path());
  };

  const SectionRun whole = steps(false), away = steps(true);

  whole.check("iterations", 6U, {{"outlier", "slow on host"}, {"gap_ns", ""}});
  whole.check("iterations_summary", {{"statistic", "max"}}, {{"host_ns", 200'000}});
  away.check("iterations", 6U, {{"outlier", ""}, {"gap_ns", 60'000}});
  away.check("iterations", 5U, {{"gap_ns", ""}});
  away.check("iterations_summary", {{"statistic", "max"}}, {{"host_ns", 102'000}});
}
