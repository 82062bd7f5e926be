// SPDX-License-Identifier: Apache-2.0
//
// Sections about GPU work: memcpy, gpu, streams, graphs. The expected numbers of recorded runs were summed
// from their lines independently.
#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"

using namespace rangefinder;
using test::call;
using test::copy_on;
using test::kernel_on;
using test::line_of;
using test::recorded;
using test::run_over;
using test::SectionRun;

TEST_CASE("memcpy: copies of a recorded run by direction, memory and synchronous or not") {
  const SectionRun run("memcpy", recorded("copy_storm"));

  REQUIRE(run.table("memcpy").rows.size() == 10);
  const SectionRun::Where pinned{{"kind", "HtoD"}, {"src", "pinned"}, {"synchronous", "no"}};
  CHECK(run.find("memcpy", pinned) == 0U);  // the heaviest
  run.check("memcpy", pinned, {{"count", 57}, {"bytes", 12'582'912}, {"pageable", "no"}});
  run.check("memcpy", pinned, {{"gpu_ns", 260'063}, {"bytes_per_s", Approx(12'582'912 / 260'063e-9)}});
  run.check("memcpy", {{"kind", "DtoH"}, {"dst", "pageable"}, {"synchronous", "yes"}},
            {{"bytes", 3'145'728}, {"pageable", "yes"}});
  run.check("memset", {{"memory", "device"}}, {{"count", 24}, {"bytes", 25'165'824}, {"gpu_ns", 24'509}});
}

TEST_CASE("memcpy: a copy without a time counts its bytes but not for the rate") {
  MemcpyRecord untimed = copy_on(7, 2, 0, 0, 5'000);
  untimed.work.start_ns = untimed.work.end_ns = kNoTime;
  run_over("memcpy", {line_of(copy_on(7, 1, 1'000, 2'000, 3'000)), line_of(untimed)})
      .check("memcpy", 0U, {{"bytes", 8'000}, {"gpu_ns", 1'000}, {"bytes_per_s", Approx(3e9)}});
}

TEST_CASE("memcpy: a batch that CUPTI reports as one copy counts all its copies") {
  MemcpyRecord batch = copy_on(7, 1, 0, 100, 640);
  batch.count = 16;
  run_over("memcpy", {line_of(batch)}).check("memcpy", 0U, {{"count", 16}, {"mean_bytes", 40}});
}

TEST_CASE("gpu: overlapping kernels and copies count as both, and the remaining time as neither") {
  const SectionRun run =
      run_over("gpu", {line_of(kernel_on(7, 1, 0, 400)), line_of(copy_on(13, 2, 300, 500, 64)),
                       line_of(kernel_on(7, 3, 600, 1'000)), line_of(kernel_on(13, 4, 900, 1'000))});

  run.check("gpu", 0U, {{"span_ns", 1'000}, {"busy_ns", 900}, {"busy_share", Approx(0.9)}});
  run.check("gpu", 0U, {{"kernel_share", Approx(0.8)}, {"concurrent_kernels_share", Approx(0.1)}});
  run.check("gpu", 0U, {{"copy_share", Approx(0.2)}, {"copy_hidden_share", Approx(0.5)}});
  run.check("gpu", 0U, {{"both_share", Approx(0.1)}, {"neither_share", Approx(0.1)}});
}

TEST_CASE("gpu: busy time and span of a recorded model match its records") {
  SectionRun("gpu", recorded("hf_rtdetr_trace"))
      .check("gpu", 0U,
             {{"busy_ns", 43'733'046}, {"span_ns", 3'082'971'902}, {"gpu", "0 NVIDIA H100 80GB HBM3"}});
}

TEST_CASE("streams: busy time, and its overlap with other streams") {
  const SectionRun run =
      run_over("streams", {line_of(StreamRecord{13, 1, -5, true}), line_of(kernel_on(7, 1, 0, 600)),
                           line_of(copy_on(13, 2, 500, 800, 64)), line_of(kernel_on(13, 3, 900, 1'000))});

  run.check("streams", 0U, {{"stream", "7 (default)"}, {"busy_share", Approx(0.6)}, {"overlap_ns", 100}});
  run.check("streams", {{"stream", "13"}}, {{"kernels", 1}, {"copies", 1}, {"busy_ns", 400}});
  run.check("streams", {{"stream", "13"}}, {{"priority", "-5"}, {"non_blocking", "yes"}});
  run.check("streams", {{"stream", "13"}}, {{"overlap_share", Approx(0.25)}});
  CHECK(run.table("stream_waits").rows.empty());
}

TEST_CASE("streams: waits of one stream for another in a recorded run") {
  const SectionRun run("streams", recorded("multi_stream"));

  REQUIRE(run.table("streams").rows.size() == 4);
  REQUIRE(run.table("stream_waits").rows.size() == 3);
  run.check("stream_waits", 0U, {{"consumer_stream", "16"}, {"consumer_path", "multi_stream/stream 3"}});
  run.check("stream_waits", 0U, {{"producer_stream", "15"}, {"producer_path", "multi_stream/stream 2"}});
  run.check("stream_waits", 0U, {{"waits", 25}, {"exposed", 3}});
  run.check("stream_waits", 0U, {{"exposed_ns", 609'171}, {"exposed_max_ns", 300'915}});
}

TEST_CASE("streams: at a smaller depth waits of several paths become one row") {
  SectionView view;
  view.depth = 1;

  const SectionRun run("streams", recorded("multi_stream"), view);

  CHECK(run.text("stream_waits", 0U, "consumer_path") == "multi_stream");
}

TEST_CASE("graphs: launches, nodes, time and gaps of recorded graphs") {
  const SectionRun run("graphs", recorded("graph_replay"));

  REQUIRE(run.table("graphs").rows.size() == 2);
  run.check("graphs", 0U, {{"graph", "2"}, {"launches", 50}, {"nodes", 20}, {"kernels_per_launch", 20}});
  run.check("graphs", 0U, {{"gpu_ns", 723'105}, {"mean_gap_ns", Approx(24'289.959)}});
  run.check("graphs", 0U, {{"captured_share", 1}});
  run.check("graphs", 1U, {{"nodes", 5}, {"captured_share", Approx(0.6)}});
  run.check("graphs", 1U, {{"gpu_ns", 234'170}, {"mean_gap_ns", Approx(10'834.959)}});
  run.check("captures", {{"path", "graph_replay/capture"}},
            {{"begins", 1}, {"ends", 1}, {"total_ns", 885'798 - 745'774}});
}

TEST_CASE("graphs: the filled share of a launch excludes the gaps between its nodes") {
  const auto node = [](std::uint64_t id, std::uint32_t correlation, TimeNs start, TimeNs end) {
    KernelRecord out = kernel_on(7, correlation, start, end);
    out.work.graph = 3;
    out.work.graph_node = id;
    return line_of(out);
  };
  run_over("graphs",
           {node(1, 1, 0, 100), node(2, 1, 300, 400), node(1, 2, 1'000, 1'100), node(2, 2, 1'300, 1'400),
            line_of(call("cuGraphLaunch", 1, -50, -40)), line_of(call("cuGraphLaunch", 2, 900, 930))})
      .check("graphs", 0U,
             {{"filled_share", Approx(0.5)},
              {"mean_gap_ns", 600},
              {"span_median_ns", 400},
              {"host_mean_ns", 20}});
}

TEST_CASE("graphs: failed and invalidated captures are counted") {
  const auto step = [](CaptureStep what, TimeNs at, std::int32_t result) {
    return line_of(CaptureRecord{{at, at + 10, 4711, 0, 0}, what, 13, 1, 0, result});
  };
  run_over("graphs", {step(CaptureStep::begin, 0, 0), step(CaptureStep::invalidate, 50, 0),
                      step(CaptureStep::end, 90, 901)})
      .check("captures", 0U, {{"begins", 1}, {"invalidated", 1}, {"failed", 1}, {"total_ns", 100}});
}
