// SPDX-License-Identifier: Apache-2.0
//
// Rules about the host. The traces are synthetic, with the times of an H200 unless a test states others.
#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"

namespace rangefinder {
namespace {
using namespace test;

constexpr TimeNs kUs = 1'000, kMs = 1'000'000;

/// The only name and configuration of these traces.
struct MadeLoop : MadeTrace {
  std::uint32_t iteration = add_path("iteration"), name = add_name("step(float*)"),
                config = add_config(grid_of(4096, 256));
};

/// `kernels` kernels per iteration, launched `every` apart, `length` long.
struct Launches : MadeLoop {
  Launches(int kernels, TimeNs every, TimeNs length) {
    repeat(5, [&](TimeNs at) {
      TimeNs end = at;
      for (int i = 0; i < kernels; ++i)
        end = std::max(end + kUs, at + (i + 1) * every), end = add(1, name, config, end, length);
      return end;
    });
  }
};

TEST_CASE("gaps of several GPUs are reported as their mean") {
  MadeLoop trace;
  trace.repeat(20, [&](TimeNs at) {
    const TimeNs loaded = at + 6 * kMs;
    for (const std::uint32_t gpu : {0u, 1u})
      trace.add({1, trace.name, trace.config, loaded - 5 * kUs, loaded, loaded + 3 * kMs, 13, gpu});
    return loaded;
  });

  check_evidence(required(trace.found(), "idle_in_range"), {{"share_of_time", Approx(0.5).margin(0.03)}});
}

TEST_CASE("a loader that is much faster than the GPU is no finding") {
  MadeLoop trace;
  const std::uint32_t load = trace.add_path("load", trace.iteration);
  trace.repeat(6, [&](TimeNs at) {
    trace.add_range(load, at + kUs, at + 2 * kUs);
    return trace.add(trace.iteration, trace.name, trace.config, at + 10 * kUs, 6 * kMs);
  });

  CHECK(find(trace.found(), "idle_in_range") == nullptr);
}

TEST_CASE("idle time during a copy call counts for the copy") {
  MadeLoop trace;
  trace.repeat(5, [&](TimeNs at) {
    trace.copy(1, MemoryKind::pageable, false, 40'000'000, at + 2 * kMs, 800 * kUs, 2'900 * kUs);
    return trace.add(1, trace.name, trace.config, at + 3 * kMs, kMs);
  });

  const Finding copies = required(trace.found(), "pageable_or_synchronous_copies");

  check_evidence(copies, {{"pageable", 4}});
  CHECK(*copies.saving_ns == 4 * (2'900'000 - MadeTrace::kLaunchCostNs));
}

TEST_CASE("short kernels that are launched one by one are launch-bound, long ones are not") {
  const Finding bound = required(Launches(100, 10 * kUs, 3 * kUs).found(), "launch_bound");

  check_evidence(bound, {{"kernels_per_repetition", 100}, {"mean_kernel_ns", 3'000}});
  check_evidence(
      bound, {{"mean_gap_ns", Approx(7'000).epsilon(0.01)}, {"share_of_time", Approx(0.46).epsilon(0.05)}});
  CHECK(find(Launches(100, 10 * kUs, 200 * kUs).found(), "launch_bound") == nullptr);
}

TEST_CASE("the saving of launch-bound kernels is net of the cost of recording their launches") {
  Launches trace(100, 10 * kUs, 3 * kUs);
  const Finding bound = required(trace.found(), "launch_bound");

  // Of each 7 us, 1 us stays and 1.4 us are ours. The last kernel of an iteration ends no gap.
  const double gaps = 4 * number(bound, "gaps_per_repetition");
  CHECK(static_cast<double>(*bound.saving_ns) == Approx(gaps * (6'000 - 1'400)).epsilon(0.02));
  CHECK(number(bound, "recording_ns") == Approx(gaps * 1'400).epsilon(0.02));
  // Gaps that are hardly longer than recording makes them are no finding.
  CHECK(find(Launches(100, 5'500, 3 * kUs).found(), "launch_bound") == nullptr);
}

TEST_CASE("without the cost of recording a launch-bound program has no potential saving") {
  Launches trace(100, 10 * kUs, 3 * kUs);
  trace.ends = false;

  CHECK_FALSE(required(trace.found(), "launch_bound").saving_ns);
}

TEST_CASE("time in which the profiler held the thread is no gap of the program") {
  // Each iteration waits for 2 ms, all of it but 10 us held by the profiler.
  const auto idle = [](bool held) {
    MadeLoop trace;
    trace.repeat(6, [&](TimeNs at) {
      if (held)
        trace.put(HoldRecord{at + 5 * kUs, at + 1'995 * kUs, MadeTrace::kThread, HoldCause::session_start});
      return trace.add(trace.iteration, trace.name, trace.config, at + 2 * kMs, 3 * kMs);
    });
    return find(trace.found(), "idle_in_range") != nullptr;
  };

  CHECK(idle(false));
  CHECK_FALSE(idle(true));
}

TEST_CASE("time in which another tool had CUPTI is not idle time of a range") {
  const auto idle = [](bool away) {
    MadeLoop trace;
    trace.repeat(6, [&](TimeNs at) {
      if (away) trace.put(GapRecord{at + 5 * kUs, at + 1'995 * kUs, "torch.profiler"});
      return trace.add(trace.iteration, trace.name, trace.config, at + 2 * kMs, 3 * kMs);
    });
    return find(trace.found(), "idle_in_range") != nullptr;
  };

  CHECK(idle(false));
  CHECK_FALSE(idle(true));
}

/// Each iteration has `calls` copies of 4 KiB and a kernel of 1 ms.
struct SmallCopies : MadeLoop {
  explicit SmallCopies(int calls) {
    repeat(5, [&](TimeNs at) {
      TimeNs now = at + 10 * kUs;
      for (int i = 0; i < calls; ++i, now += 6 * kUs) copy(1, MemoryKind::pinned, true, 4096, now, 2 * kUs);
      return add(1, name, config, now, kMs);
    });
  }
};

TEST_CASE("many small copies are found with the time of their calls, a few are no finding") {
  const Finding small = required(SmallCopies(50).found(), "small_copies");

  check_evidence(small, {{"copies_per_repetition", 50}, {"mean_bytes", 4096}});
  CHECK(*small.saving_ns == 4 * 49 * (4'000 - MadeTrace::kLaunchCostNs));
  CHECK(find(SmallCopies(5).found(), "small_copies") == nullptr);
}

/// Each iteration has a kernel of 500 us. `waits`: the host synchronises after it. `allocates`: the host
/// allocates and frees before it, in the first `allocating_iterations`.
struct Waiting : MadeLoop {
  Waiting(bool waits, bool allocates, int allocating_iterations = 1'000) {
    repeat(8, [&, i = 0](TimeNs at) mutable {
      if (allocates && i++ < allocating_iterations) {
        alloc(1, false, at, at + 30 * kUs);
        alloc(1, true, at + 30 * kUs, at + 45 * kUs);
      }
      const TimeNs end = add(1, name, config, at + 50 * kUs, 500 * kUs);
      if (waits) sync(1, at + 60 * kUs, end + 3 * kUs);
      return end + (waits ? 3 * kUs : -40 * kUs);
    });
  }
};

TEST_CASE("a synchronisation in each iteration leaves the GPU idle after it") {
  // 53 us of 553, without 1.4 us of recording, after all iterations but the last.
  check_evidence(required(Waiting(true, false).found(), "sync_each_iteration"),
                 {{"syncs_per_repetition", 1},
                  {"apis", "cuStreamSynchronize x 7"},
                  {"share_of_time", Approx((53.0 - 1.4) / 553 * 7 / 8).epsilon(0.01)}});
  CHECK(find(Waiting(false, false).found(), "sync_each_iteration") == nullptr);
}

TEST_CASE("allocations in each iteration are counted with their time, those of the first are warm-up") {
  const Finding allocations = required(Waiting(false, true).found(), "allocations_in_loop");

  check_evidence(allocations, {{"allocs_per_repetition", 1}});
  CHECK(*allocations.saving_ns == 7 * 45'000u);
  CHECK(allocations.why.ends_with(
      " an iteration pass in 2 calls that allocate or free. All of them bypass a pool, so each may wait for "
      "the whole GPU."));
  CHECK(find(Waiting(false, true, 1).found(), "allocations_in_loop") == nullptr);
}

/// Whether five iterations of 60 short kernels with gaps, and a wait in or after each, have obstacles: as a
/// finding of its own, or as evidence of one with the same cause.
bool finds_obstacles(bool wait_inside) {
  MadeTrace trace;
  const std::uint32_t path = trace.add_path("iteration"), name = trace.add_name("f()");
  const std::uint32_t config = trace.add_config(grid_of(1024, 256));
  TimeNs now = 1'000 * kUs;
  for (int i = 0; i < 5; ++i) {
    const TimeNs start = now;
    for (int k = 0; k < 60; ++k) now = trace.add(path, name, config, now + 15 * kUs, 5 * kUs);
    trace.sync(wait_inside ? path : 0, now + 10 * kUs, now + 15 * kUs);
    trace.add_range(path, start, now + (wait_inside ? 20 * kUs : 5 * kUs));
    now += 30 * kUs;
  }
  for (const Finding& finding : trace.found()) {
    if (finding.id == "capture_obstacles") return true;
    if (text(finding, "also").find("capture_obstacles") != std::string::npos) return true;
  }
  return false;
}

TEST_CASE("a wait in each iteration prevents its capture, one between iterations does not") {
  CHECK(finds_obstacles(true));
  CHECK_FALSE(finds_obstacles(false));
}

CaptureRecord capture(CaptureStep step, TimeNs at, std::int32_t result = 0) {
  return {{at, at + kUs, MadeTrace::kThread, 1, 0}, step, 13, 1, 0, result};
}

TEST_CASE("calls that break a capture are named") {
  MadeTrace trace;
  trace.add_path("capture");
  trace.put(capture(CaptureStep::begin, 100 * kUs));
  trace.alloc(1, false, 110 * kUs, 120 * kUs);
  trace.sync(1, 130 * kUs, 131 * kUs);
  trace.put(capture(CaptureStep::end, 140 * kUs, 901));
  const Finding unsafe = required(trace.found(), "unsafe_during_capture");

  CHECK(unsafe.severity == Severity::serious);
  check_evidence(unsafe, {{"failed", 1}, {"apis", "cuMemAlloc x 1, cuStreamSynchronize x 1"}});
}

TEST_CASE("the call on another thread that broke a capture is the finding, with its range and thread") {
  MadeTrace trace;
  trace.add_path("model");
  trace.add_path("logger");
  trace.put(capture(CaptureStep::begin, 100 * kUs));
  trace.put(CaptureRecord{
      {110 * kUs, 111 * kUs, 4712, 2, 0}, CaptureStep::broken_by, 0, 1, 0, 900, "cuEventQuery"});
  trace.put(capture(CaptureStep::invalidate, 140 * kUs, 901));

  const Finding broke = required(trace.found(), "unsafe_during_capture");

  CHECK(broke.where == "logger");
  CHECK(broke.severity == Severity::serious);
  CHECK(broke.effect == "broke 1 stream capture of model");
  check_evidence(broke, {{"failed", 1}, {"broken_by", "cuEventQuery"}, {"broken_on", "4712"}});
}

TEST_CASE("calls before and after a capture are safe") {
  MadeTrace trace;
  trace.add_path("capture");
  trace.alloc(1, false, 80 * kUs, 90 * kUs);
  trace.put(capture(CaptureStep::begin, 100 * kUs));
  trace.alloc(1, false, 110 * kUs, 112 * kUs, AllocKind::async);  // becomes a node of the graph
  trace.put(capture(CaptureStep::end, 140 * kUs));
  trace.sync(1, 150 * kUs, 160 * kUs);
  CHECK(find(trace.found(), "unsafe_during_capture") == nullptr);
}

}  // namespace
}  // namespace rangefinder
