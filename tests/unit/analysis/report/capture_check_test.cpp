// SPDX-License-Identifier: Apache-2.0
//
// `--section graphs --check`: recorded runs, and small made ones for calls that fail.
#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"
#include "tests/unit/analysis/queries/section_run.h"

namespace rangefinder {
namespace {
using namespace test;

constexpr TimeNs kUs = 1'000;
constexpr std::int32_t kImplicit = 906, kInvalidated = 901;

SectionView check_view(bool strict = false) {
  SectionView view;
  view.check = true;
  view.all = strict;
  return view;
}

SectionRun checked(const std::filesystem::path& folder, const SectionView& view = check_view(),
                   const SelectionOptions& selected = {}) {
  return SectionRun("graphs", folder, view, selected);
}

std::filesystem::path golden(const char* name) {
  return std::filesystem::path(RANGEFINDER_TEST_GOLDEN) / name;
}

CaptureRecord step_of(CaptureStep step, TimeNs at, std::int32_t result = 0) {
  return {{at, at + kUs, MadeTrace::kThread, 1, 0}, step, 13, 1, 0, result};
}

/// A capture in the path `capture`; `body` makes its calls.
template <typename Body>
SectionRun captured(std::int32_t result, Body body, bool strict = false) {
  MadeTrace trace;
  trace.add_path("capture");
  trace.put(step_of(CaptureStep::begin, 100 * kUs));
  body(trace);
  trace.put(step_of(result == 0 ? CaptureStep::end : CaptureStep::invalidate, 140 * kUs, result));
  trace.write();
  return checked(trace.folder.path(), check_view(strict));
}

constexpr std::uint32_t kOther = 4712;

/// A call of another thread, in the path `logger`, that stream capture forbids.
CaptureRecord forbidden(TimeNs at, const char* api = "cuCtxSynchronize", std::uint32_t thread = kOther) {
  return {{at, at + kUs, thread, 2, 0}, CaptureStep::broken_by, 0, 1, 0, 900, api};
}

/// A capture in `model` from 100 to 140 us that fails, or not, beside `calls` of other threads.
SectionRun beside(std::vector<CaptureRecord> calls, std::int32_t result) {
  MadeTrace trace;
  trace.add_path("model");
  trace.add_path("logger");
  trace.put(step_of(CaptureStep::begin, 100 * kUs));
  for (const CaptureRecord& call : calls) trace.put(call);
  trace.put(step_of(result == 0 ? CaptureStep::end : CaptureStep::invalidate, 140 * kUs, result));
  trace.write();
  return checked(trace.folder.path());
}

TEST_CASE("the call on another thread that broke a capture is named, not the end of the capture") {
  const auto run = beside({forbidden(110 * kUs), forbidden(120 * kUs, "cuEventQuery")}, kInvalidated);

  CHECK(run.table("capture_check").title.starts_with("FAIL"));
  CHECK(run.table("capture_check").rows.size() == 1);
  run.check("capture_check", 0U,
            {{"module", "logger"},
             {"api", "cuCtxSynchronize"},
             {"thread", "4712"},
             {"verdict", "fail"},
             {"why", "broke the capture in model, on thread 4712: STREAM_CAPTURE_UNSUPPORTED (900)"},
             {"instead", "the call after the capture, or cudaStreamCaptureModeThreadLocal"}});
}

TEST_CASE("forbidden calls before, after and beside a valid capture leave it clean") {
  CHECK(beside({forbidden(110 * kUs)}, 0).table("capture_check").title.starts_with("PASS"));
  const auto run = beside({forbidden(90 * kUs), forbidden(150 * kUs)}, kInvalidated);
  CHECK(run.table("capture_check").rows.size() == 1);
  run.check("capture_check", 0U, {{"module", "model"}, {"api", "cuStreamEndCapture"}, {"verdict", "fail"}});
}

TEST_CASE("a forbidden call on the capturing thread is named with what to do there") {
  const auto run = beside({forbidden(110 * kUs, "cuModuleLoadData", MadeTrace::kThread)}, kInvalidated);

  CHECK(run.table("capture_check").rows.size() == 1);
  run.check("capture_check", 0U,
            {{"api", "cuModuleLoadData"}, {"instead", "the call before or after the capture"}});
}

/// Five iterations of path 1; `body` makes the calls of each.
template <typename Body>
SectionRun iterated(Body body) {
  MadeTrace trace;
  trace.add_path("iteration");
  trace.add_name("f()");
  trace.add_config(grid_of(1024, 256));
  trace.repeat(5, [&](TimeNs at) {
    trace.add(1, 1, 1, at + 10 * kUs, 20 * kUs);
    body(trace, at + 40 * kUs);
    return at + 100 * kUs;
  });
  trace.write();
  return checked(trace.folder.path());
}

std::string title(const SectionRun& run) {
  return run.table("capture_check").title;
}

TEST_CASE("calls that a capture allows pass") {
  const SectionRun run = captured(0, [](MadeTrace& trace) {
    trace.launch(1, 110 * kUs);
    trace.launch(1, 115 * kUs, "cuMemcpyHtoDAsync");
    trace.alloc(1, false, 120 * kUs, 121 * kUs, AllocKind::async);
  });

  CHECK_FALSE(run.made->fails());
  CHECK(title(run) == "PASS: nothing that ran stands in the way of capture");
  for (const char* const api : {"cuLaunchKernel", "cuMemcpyHtoDAsync", "cuMemAlloc"}) {
    run.check("capture_check", {{"api", api}},
              {{"module", "capture"}, {"count", 1}, {"when", "while capturing"}, {"verdict", "pass"}});
  }
}

TEST_CASE("a launch that fails while capturing fails the check, with the name of its error") {
  const SectionRun run = captured(0, [](MadeTrace& trace) {
    trace.put(
        LaunchRecord{{110 * kUs, 111 * kUs, MadeTrace::kThread, 1, 0}, "cuLaunchKernel", 1, 1, kImplicit});
  });

  CHECK(run.made->fails());
  CHECK(title(run) == "FAIL: 1 call of 1 module stands in the way of capture");
  run.check("capture_check", {{"verdict", "fail"}},
            {{"api", "cuLaunchKernel"},
             {"why", "STREAM_CAPTURE_IMPLICIT (906)"},
             {"instead", "a stream of cudaStreamCreateWithFlags"}});
}

TEST_CASE("a capture that became invalid fails, and so do the forbidden calls in it, but no other") {
  const SectionRun run = captured(kInvalidated, [](MadeTrace& trace) {
    trace.launch(1, 105 * kUs);
    trace.alloc(1, false, 110 * kUs, 120 * kUs);
    trace.sync(1, 130 * kUs, 131 * kUs);
  });

  CHECK(run.made->fails());
  run.check("capture_check", {{"api", "cuStreamEndCapture"}},
            {{"verdict", "fail"}, {"why", "invalid capture: STREAM_CAPTURE_INVALIDATED (901)"}});
  run.check("capture_check", {{"api", "cuMemAlloc"}},
            {{"verdict", "fail"}, {"instead", "allocate before, or cudaMallocAsync"}});
  run.check("capture_check", {{"api", "cuStreamSynchronize"}}, {{"verdict", "fail"}});
  run.check("capture_check", {{"api", "cuLaunchKernel"}}, {{"verdict", "pass"}});
}

TEST_CASE("a forbidden call in a valid capture passes, and fails with --all") {
  const auto allocates = [](MadeTrace& trace) { trace.alloc(1, false, 110 * kUs, 120 * kUs); };

  const SectionRun usual = captured(0, allocates), strict = captured(0, allocates, true);

  CHECK_FALSE(usual.made->fails());
  usual.check("capture_check", {{"api", "cuMemAlloc"}},
              {{"verdict", "pass"}, {"why", "allowed by its mode"}});
  CHECK(strict.made->fails());
  strict.check("capture_check", {{"api", "cuMemAlloc"}}, {{"verdict", "fail"}});
}

TEST_CASE("calls of other threads, and before and after a capture, are not part of it") {
  const SectionRun run = captured(0, [](MadeTrace& trace) {
    trace.put(SyncRecord{{110 * kUs, 111 * kUs, 1234, 1, 0}, "cuStreamSynchronize", 1, 13, 0});
    trace.put(SyncRecord{{150 * kUs, 151 * kUs, 1234, 1, 0}, "cuStreamSynchronize", 1, 13, 0});
  });

  CHECK_FALSE(run.made->fails());
  CHECK(run.table("capture_check").rows.empty());
}

TEST_CASE("iterations fail with each kind of call that prevents their capture") {
  const SectionRun run = iterated([](MadeTrace& trace, TimeNs at) {
    trace.sync(1, at, at + kUs);
    trace.alloc(1, false, at + 2 * kUs, at + 3 * kUs);
    trace.alloc(1, true, at + 4 * kUs, at + 5 * kUs);
    trace.alloc(1, false, at + 6 * kUs, at + 7 * kUs, AllocKind::pool);
    trace.copy(1, MemoryKind::pageable, true, 4096, at + 20 * kUs, 2 * kUs);
    trace.copy(1, MemoryKind::pinned, false, 4096, at + 30 * kUs, 2 * kUs);
  });

  CHECK(run.made->fails());
  CHECK(title(run) == "FAIL: 20 calls of 1 module stand in the way of capture");  // the first warms up
  const auto fails = [&run](const char* api, const char* why) {
    run.check("capture_check", {{"api", api}, {"why", why}},
              {{"verdict", "fail"},
               {"count", 4},
               {"per_iteration", 1},
               {"when", "in an iteration, outside of a capture"}});
  };
  fails("cuStreamSynchronize", "waits for the GPU");
  fails("cuMemAlloc", "not from a pool");
  fails("cuMemFree", "not from a pool");
  fails("cuMemcpyHtoDAsync", "pageable memory");
  fails("cuMemcpyHtoD", "synchronous");
  run.check("capture_check", {{"verdict", "pass"}}, {{"api", "cuMemAlloc"}, {"count", 4}});
}

TEST_CASE("an iteration on a stream of its own without such calls passes") {
  const SectionRun run = iterated([](MadeTrace& trace, TimeNs at) {
    trace.copy(1, MemoryKind::pinned, true, 4096, at + 20 * kUs, 2 * kUs);
  });

  CHECK_FALSE(run.made->fails());
  run.check("capture_check", {{"api", "cuMemcpyHtoDAsync"}}, {{"verdict", "pass"}, {"count", 4}});
}

TEST_CASE("kernels on the legacy default stream prevent the capture of an iteration") {
  const SectionRun run = iterated([](MadeTrace& trace, TimeNs at) {
    MadeKernel on_default{1, 1, 1, at, at + 5 * kUs, at + 10 * kUs};
    on_default.stream = 7;  // the context's default stream
    trace.add(on_default);
  });

  CHECK(run.made->fails());
  run.check("capture_check", {{"why", "legacy default stream"}},
            {{"api", "cuLaunchKernel"}, {"count", 4}, {"verdict", "fail"}});
}

TEST_CASE("a wait between two iterations is in none") {
  MadeTrace trace;
  trace.add_path("iteration");
  trace.add_name("f()");
  trace.add_config(grid_of(1024, 256));
  for (TimeNs at = 1'000 * kUs; at < 1'500 * kUs; at += 100 * kUs) {
    trace.add(1, 1, 1, at + 10 * kUs, 20 * kUs);
    trace.add_range(1, at, at + 60 * kUs);
    trace.sync(0, at + 70 * kUs, at + 80 * kUs);
  }
  trace.write();

  CHECK_FALSE(checked(trace.folder.path()).made->fails());
}

TEST_CASE("calls of a capture inside of an iteration are judged once, as calls of the capture") {
  const SectionRun run = iterated([](MadeTrace& trace, TimeNs at) {
    trace.put(step_of(CaptureStep::begin, at));
    trace.alloc(1, false, at + 5 * kUs, at + 6 * kUs);
    trace.put(step_of(CaptureStep::end, at + 10 * kUs));
  });

  CHECK_FALSE(run.made->fails());
  CHECK(run.table("capture_check").rows.size() == 1);
  run.check("capture_check", {{"api", "cuMemAlloc"}},
            {{"when", "while capturing"}, {"count", 5}, {"verdict", "pass"}});
}

TEST_CASE("iterations that launch a graph as a whole are captured already") {
  const SectionRun run = iterated([](MadeTrace& trace, TimeNs at) {
    trace.launch(1, at, "cuGraphLaunch");
    trace.sync(1, at + 20 * kUs, at + 21 * kUs);
  });

  CHECK_FALSE(run.made->fails());
  CHECK(run.shown().find("calls around the graphs that iterations") != std::string::npos);
}

TEST_CASE("without a capture and iterations the check says that little was judged") {
  MadeTrace trace;
  trace.sync(0, 10 * kUs, 20 * kUs);
  trace.write();
  const SectionRun run = checked(trace.folder.path());

  CHECK_FALSE(run.made->fails());
  CHECK(title(run) == "PASS: nothing that ran stands in the way of capture, but little was judged");
  CHECK(run.shown().find("no range marks three of them") != std::string::npos);
  CHECK(run.shown().find("allocations: none is in the trace") != std::string::npos);
}

TEST_CASE("eager RT-DETR in PyTorch cannot be captured as it is, for the reasons of the finding") {
  const SectionRun run = checked(golden("hf_rtdetr_trace"));

  CHECK(run.made->fails());
  std::map<std::string, double> by_api;
  for (std::size_t row = 0; row < run.table("capture_check").rows.size(); ++row) {
    if (run.text("capture_check", row, "verdict") != "fail") continue;
    CHECK(run.text("capture_check", row, "why") != "");
    CHECK(run.text("capture_check", row, "instead") != "");
    by_api[run.text("capture_check", row, "api")] += run.number("capture_check", row, "count");
  }
  CHECK(by_api["cuLaunchKernel"] + by_api["cuLaunchKernelEx"] + by_api["cuMemsetD8Async"] > 1'000);
  CHECK(by_api.count("cuStreamSynchronize") == 1);
  CHECK(by_api.count("cuMemcpyHtoDAsync") == 1);
  CHECK(by_api.count("cuLaunchKernelEx") == 1);
}

TEST_CASE("--range keeps the rows of the selected modules") {
  SelectionOptions selected;
  selected.range = "iteration/copy";
  const SectionRun copies = checked(golden("case_starved_one"), check_view(), selected);

  CHECK(copies.made->fails());
  for (const auto& row : copies.table("capture_check").rows) CHECK(plain(row.front()) == "iteration/copy");
}

TEST_CASE("pinned memory removes the pageable copies of a data loader from the check") {
  const SectionRun pageable = checked(golden("case_starved_one")),
                   pinned = checked(golden("case_starved_pinned"));

  pageable.check("capture_check", {{"why", "pageable memory"}},
                 {{"module", "iteration/copy"}, {"api", "cuMemcpyHtoDAsync"}, {"count", 59}});
  CHECK_FALSE(pinned.find("capture_check", {{"why", "pageable memory"}}));
  pinned.check("capture_check", {{"api", "cuMemcpyHtoDAsync"}}, {{"verdict", "pass"}});
}

TEST_CASE("recorded captures pass, with their calls") {
  const SectionRun graph = checked(golden("graph_replay")), decoder = checked(golden("decoder_sampled"));

  CHECK_FALSE(graph.made->fails());
  double launches = 0;
  for (std::size_t row = 0; row < graph.table("capture_check").rows.size(); ++row) {
    CHECK(graph.text("capture_check", row, "verdict") == "pass");
    launches += graph.number("capture_check", row, "count");
  }
  CHECK(launches == 20);
  CHECK_FALSE(decoder.made->fails());
  decoder.check("capture_check", {{"api", "cuMemAlloc"}},
                {{"verdict", "pass"}, {"why", "allowed by its mode"}});
  CHECK(checked(golden("decoder_sampled"), check_view(true)).made->fails());
}

}  // namespace
}  // namespace rangefinder
