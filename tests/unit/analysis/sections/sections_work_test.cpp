// SPDX-License-Identifier: Apache-2.0
//
// Sections about GPU work: memcpy, gpu, streams, graphs. The expected numbers of recorded runs were summed
// from their lines independently.
#include "tests/catch.h"
#include "tests/unit/analysis/sections/section_run.h"

using namespace rangefinder;
using test::call;
using test::copy_on;
using test::kernel_on;
using test::line_of;
using test::recorded;
using test::SectionRun;
using test::TraceOnDisk;

TEST_CASE("memcpy: copies of a recorded run by direction, memory and synchronous or not") {
  const SectionRun run("memcpy", recorded("copy_storm"));

  REQUIRE(run.table("memcpy").rows.size() == 10);
  const SectionRun::Where pinned{{"kind", "HtoD"}, {"src", "pinned"}, {"synchronous", "no"}};
  CHECK(run.find("memcpy", pinned) == 0U);  // the heaviest
  CHECK(run.number("memcpy", pinned, "count") == 57);
  CHECK(run.number("memcpy", pinned, "bytes") == 12'582'912);
  CHECK(run.number("memcpy", pinned, "gpu_ns") == 260'063);
  CHECK(run.number("memcpy", pinned, "bytes_per_s") == Approx(12'582'912 / 260'063e-9));
  CHECK(run.text("memcpy", pinned, "pageable") == "no");
  const SectionRun::Where paged{{"kind", "DtoH"}, {"dst", "pageable"}, {"synchronous", "yes"}};
  CHECK(run.number("memcpy", paged, "bytes") == 3'145'728);
  CHECK(run.text("memcpy", paged, "pageable") == "yes");
  CHECK(run.number("memset", {{"memory", "device"}}, "count") == 24);
  CHECK(run.number("memset", {{"memory", "device"}}, "bytes") == 25'165'824);
  CHECK(run.number("memset", {{"memory", "device"}}, "gpu_ns") == 24'509);
}

TEST_CASE("memcpy: a copy without a time counts its bytes but not for the rate") {
  TraceOnDisk trace;
  MemcpyRecord untimed = copy_on(7, 2, 0, 0, 5'000);
  untimed.work.start_ns = untimed.work.end_ns = kNoTime;
  write_trace(trace, {line_of(copy_on(7, 1, 1'000, 2'000, 3'000)), line_of(untimed)});

  const SectionRun run("memcpy", trace.folder.path());

  CHECK(run.number("memcpy", 0U, "bytes") == 8'000);
  CHECK(run.number("memcpy", 0U, "gpu_ns") == 1'000);
  CHECK(run.number("memcpy", 0U, "bytes_per_s") == Approx(3e9));
}

TEST_CASE("memcpy: a batch that CUPTI reports as one copy counts all its copies") {
  TraceOnDisk trace;
  MemcpyRecord batch = copy_on(7, 1, 0, 100, 640);
  batch.count = 16;
  write_trace(trace, {line_of(batch)});

  const SectionRun run("memcpy", trace.folder.path());

  CHECK(run.number("memcpy", 0U, "count") == 16);
  CHECK(run.number("memcpy", 0U, "mean_bytes") == 40);
}

TEST_CASE("gpu: overlapping kernels and copies count as both, and the remaining time as neither") {
  TraceOnDisk trace;
  write_trace(trace, {line_of(kernel_on(7, 1, 0, 400)), line_of(copy_on(13, 2, 300, 500, 64)),
                      line_of(kernel_on(7, 3, 600, 1'000)), line_of(kernel_on(13, 4, 900, 1'000))});

  const SectionRun run("gpu", trace.folder.path());

  CHECK(run.number("gpu", 0U, "span_ns") == 1'000);
  CHECK(run.number("gpu", 0U, "busy_ns") == 900);
  CHECK(run.number("gpu", 0U, "busy_share") == Approx(0.9));
  CHECK(run.number("gpu", 0U, "kernel_share") == Approx(0.8));
  CHECK(run.number("gpu", 0U, "copy_share") == Approx(0.2));
  CHECK(run.number("gpu", 0U, "both_share") == Approx(0.1));
  CHECK(run.number("gpu", 0U, "neither_share") == Approx(0.1));
  CHECK(run.number("gpu", 0U, "copy_hidden_share") == Approx(0.5));
  CHECK(run.number("gpu", 0U, "concurrent_kernels_share") == Approx(0.1));
}

TEST_CASE("gpu: busy time and span of a recorded model match its records") {
  const SectionRun run("gpu", recorded("hf_rtdetr_trace"));

  CHECK(run.number("gpu", 0U, "busy_ns") == 15'996'339);
  CHECK(run.number("gpu", 0U, "span_ns") == 4'691'487'374);
  CHECK(run.text("gpu", 0U, "gpu") == "0 NVIDIA H200");
}

TEST_CASE("streams: busy time, and its overlap with other streams") {
  TraceOnDisk trace;
  StreamRecord urgent;
  urgent.id = 13;
  urgent.context = 1;
  urgent.priority = -5;
  urgent.non_blocking = true;
  write_trace(trace, {line_of(urgent), line_of(kernel_on(7, 1, 0, 600)),
                      line_of(copy_on(13, 2, 500, 800, 64)), line_of(kernel_on(13, 3, 900, 1'000))});

  const SectionRun run("streams", trace.folder.path());

  CHECK(run.text("streams", 0U, "stream") == "7 (default)");
  CHECK(run.number("streams", 0U, "busy_share") == Approx(0.6));
  CHECK(run.number("streams", 0U, "overlap_ns") == 100);
  const SectionRun::Where other{{"stream", "13"}};
  CHECK(run.number("streams", other, "kernels") == 1);
  CHECK(run.number("streams", other, "copies") == 1);
  CHECK(run.number("streams", other, "busy_ns") == 400);
  CHECK(run.number("streams", other, "overlap_share") == Approx(0.25));
  CHECK(run.text("streams", other, "priority") == "-5");
  CHECK(run.text("streams", other, "non_blocking") == "yes");
  CHECK(run.table("stream_waits").rows.empty());
}

TEST_CASE("streams: waits of one stream for another in a recorded run") {
  const SectionRun run("streams", recorded("multi_stream"));

  REQUIRE(run.table("streams").rows.size() == 4);
  REQUIRE(run.table("stream_waits").rows.size() == 3);
  const SectionRun::Where last{{"consumer_stream", "16"}};
  CHECK(run.find("stream_waits", last) == 0U);
  CHECK(run.text("stream_waits", last, "producer_stream") == "15");
  CHECK(run.text("stream_waits", last, "consumer_path") == "multi_stream/stream 3");
  CHECK(run.text("stream_waits", last, "producer_path") == "multi_stream/stream 2");
  CHECK(run.number("stream_waits", last, "waits") == 25);
  CHECK(run.number("stream_waits", last, "exposed") == 3);
  CHECK(run.number("stream_waits", last, "exposed_ns") == 609'171);
  CHECK(run.number("stream_waits", last, "exposed_max_ns") == 300'915);
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
  CHECK(run.text("graphs", 0U, "graph") == "2");
  CHECK(run.number("graphs", 0U, "launches") == 50);
  CHECK(run.number("graphs", 0U, "nodes") == 20);
  CHECK(run.number("graphs", 0U, "kernels_per_launch") == 20);
  CHECK(run.number("graphs", 0U, "gpu_ns") == 723'105);
  CHECK(run.number("graphs", 0U, "mean_gap_ns") == Approx(24'289.959));
  CHECK(run.number("graphs", 0U, "captured_share") == 1);
  CHECK(run.number("graphs", 1U, "nodes") == 5);
  CHECK(run.number("graphs", 1U, "gpu_ns") == 234'170);
  CHECK(run.number("graphs", 1U, "mean_gap_ns") == Approx(10'834.959));
  CHECK(run.number("graphs", 1U, "captured_share") == Approx(0.6));
  const SectionRun::Where captured{{"path", "graph_replay/capture"}};
  CHECK(run.number("captures", captured, "begins") == 1);
  CHECK(run.number("captures", captured, "ends") == 1);
  CHECK(run.number("captures", captured, "total_ns") == 885'798 - 745'774);
}

TEST_CASE("graphs: the filled share of a launch excludes the gaps between its nodes") {
  TraceOnDisk trace;
  const auto node = [](std::uint64_t id, std::uint32_t correlation, TimeNs start, TimeNs end) {
    KernelRecord out = kernel_on(7, correlation, start, end);
    out.work.graph = 3;
    out.work.graph_node = id;
    return line_of(out);
  };
  write_trace(trace,
              {node(1, 1, 0, 100), node(2, 1, 300, 400), node(1, 2, 1'000, 1'100), node(2, 2, 1'300, 1'400),
               line_of(call("cuGraphLaunch", 1, -50, -40)), line_of(call("cuGraphLaunch", 2, 900, 930))});

  const SectionRun run("graphs", trace.folder.path());

  CHECK(run.number("graphs", 0U, "filled_share") == Approx(0.5));
  CHECK(run.number("graphs", 0U, "mean_gap_ns") == 600);
  CHECK(run.number("graphs", 0U, "span_median_ns") == 400);
  CHECK(run.number("graphs", 0U, "host_mean_ns") == 20);
}

TEST_CASE("graphs: failed and invalidated captures are counted") {
  TraceOnDisk trace;
  const auto step = [](CaptureStep what, TimeNs at, std::int32_t result) {
    CaptureRecord out;
    out.host = {at, at + 10, 4711, 0, 0};
    out.step = what;
    out.stream = 13;
    out.context = 1;
    out.result = result;
    return line_of(out);
  };
  write_trace(trace, {step(CaptureStep::begin, 0, 0), step(CaptureStep::invalidate, 50, 0),
                      step(CaptureStep::end, 90, 901)});

  const SectionRun run("graphs", trace.folder.path());

  CHECK(run.number("captures", 0U, "begins") == 1);
  CHECK(run.number("captures", 0U, "invalidated") == 1);
  CHECK(run.number("captures", 0U, "failed") == 1);
  CHECK(run.number("captures", 0U, "total_ns") == 100);
}
