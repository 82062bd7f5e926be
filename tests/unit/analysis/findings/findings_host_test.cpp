// SPDX-License-Identifier: Apache-2.0
//
// Rules about the host. The traces are synthetic, with the times of an H200 unless a test states others.
#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"

namespace rangefinder {
namespace {
using namespace test;

constexpr TimeNs kUs = 1'000, kMs = 1'000'000;

/// A training loop whose loader takes `load_ms` on the CPU before each step of `busy_ms` on the GPU.
struct Starved : MadeTrace {
  explicit Starved(TimeNs load_ms, TimeNs busy_ms = 3) {
    const std::uint32_t iteration = add_path("iteration"), load = add_path("load", iteration),
                        step = add_path("step", iteration);
    const std::uint32_t name = add_name("train_step(float*)"), config = add_config(grid_of(4096, 256));
    repeat(6, [&](TimeNs at) {
      const TimeNs loaded = at + load_ms * kMs;
      add_range(load, at + kUs, loaded);
      const TimeNs end = add(step, name, config, loaded + 10 * kUs, busy_ms * kMs);
      add_range(step, loaded, end);
      return end;
    });
  }
};

/// `kernels` kernels per iteration, launched `every` apart, `length` long.
struct Launches : MadeTrace {
  Launches(int kernels, TimeNs every, TimeNs length) {
    add_path("iteration");
    const std::uint32_t name = add_name("small(float*)"), config = add_config(grid_of(4096, 256));
    repeat(5, [&](TimeNs at) {
      TimeNs end = at;
      for (int i = 0; i < kernels; ++i)
        end = std::max(end + kUs, at + (i + 1) * every), end = add(1, name, config, end, length);
      return end;
    });
  }
};

TEST_CASE("a GPU that waits for a loader is idle in the loader's range") {
  const auto found = Starved(6).found();

  const Finding* const idle = find(found, "idle_in_range");
  REQUIRE(idle != nullptr);
  CHECK(idle->where == "iteration/load");
  CHECK(idle->severity == Severity::serious);
  CHECK(number(*idle, "repetitions") == 5);
  // 6 ms of each of the last five iterations of 9 ms, except for the microseconds around the range.
  CHECK(*idle->saving_ns == Approx(5 * 6.0 * kMs).epsilon(0.02));
  CHECK(number(*idle, "share_of_time") == Approx(6.0 / 9).epsilon(0.02));
}

TEST_CASE("a GPU that works in parallel with its loaders is idle for the computed share") {
  // 8 loaders, 6 ms per image, 8 images per step: a batch every 6 ms, of which the GPU needs 3 ms.
  MadeTrace trace;
  const std::uint32_t iteration = trace.add_path("iteration"), load = trace.add_path("load", iteration);
  const std::uint32_t name = trace.add_name("step(float*)"), config = trace.add_config(grid_of(4096, 256));
  trace.repeat(20, [&](TimeNs at) {
    const TimeNs loaded = at + 6 * kMs;
    trace.add_range(load, at, loaded - 20 * kUs);
    trace.add(iteration, name, config, loaded, 3 * kMs);
    return loaded;
  });
  const auto found = trace.found();

  const Finding* const idle = find(found, "idle_in_range");
  REQUIRE(idle != nullptr);
  CHECK(idle->where == "iteration/load");
  CHECK(number(*idle, "share_of_time") == Approx(1 - 3.0 * 8 / (6 * 8)).margin(0.03));
}

TEST_CASE("gaps of several GPUs are reported as their mean") {
  MadeTrace trace;
  const std::uint32_t iteration = trace.add_path("iteration");
  const std::uint32_t name = trace.add_name("step(float*)"), config = trace.add_config(grid_of(4096, 256));
  trace.repeat(20, [&](TimeNs at) {
    const TimeNs loaded = at + 6 * kMs;
    for (const std::uint32_t gpu : {0u, 1u})
      trace.add({iteration, name, config, loaded - 5 * kUs, loaded, loaded + 3 * kMs, 13, gpu});
    return loaded;
  });
  const auto found = trace.found();

  const Finding* const idle = find(found, "idle_in_range");
  REQUIRE(idle != nullptr);
  CHECK(number(*idle, "share_of_time") == Approx(0.5).margin(0.03));
}

TEST_CASE("a loader that is much faster than the GPU is no finding") {
  CHECK(find(Starved(0, 6).found(), "idle_in_range") == nullptr);
}

TEST_CASE("idle time during a copy call counts for the copy") {
  MadeTrace trace;
  trace.add_path("iteration");
  const auto name = trace.add_name("step(float*)");
  const auto config = trace.add_config(grid_of(4096, 256));
  trace.repeat(5, [&](TimeNs at) {
    trace.copy(1, MemoryKind::pageable, false, 40'000'000, at + 2 * kMs, 800 * kUs, 2'900 * kUs);
    return trace.add(1, name, config, at + 3 * kMs, kMs);
  });
  const auto found = trace.found();

  const Finding* const copies = find(found, "pageable_or_synchronous_copies");
  REQUIRE(copies != nullptr);
  CHECK(number(*copies, "pageable") == 4);
  CHECK(*copies->saving_ns == 4 * 2'900'000u);
}

TEST_CASE("pinned asynchronous copies are no finding") {
  MadeTrace trace;
  trace.add_path("iteration");
  const auto name = trace.add_name("step(float*)");
  const auto config = trace.add_config(grid_of(4096, 256));
  trace.repeat(5, [&](TimeNs at) {
    trace.copy(1, MemoryKind::pinned, true, 40'000'000, at + 10 * kUs, 800 * kUs);
    return trace.add(1, name, config, at + kMs, kMs);
  });
  CHECK(find(trace.found(), "pageable_or_synchronous_copies") == nullptr);
}

TEST_CASE("short kernels that are launched one by one are launch-bound") {
  const auto found = Launches(100, 10 * kUs, 3 * kUs).found();

  const Finding* const bound = find(found, "launch_bound");
  REQUIRE(bound != nullptr);
  CHECK(number(*bound, "kernels_per_repetition") == 100);
  CHECK(number(*bound, "mean_kernel_ns") == 3'000);
  CHECK(number(*bound, "mean_gap_ns") == Approx(7'000).epsilon(0.01));
  CHECK(number(*bound, "share_of_time") == Approx(0.6).epsilon(0.05));
}

TEST_CASE("long back-to-back kernels are not launch-bound") {
  CHECK(find(Launches(100, 10 * kUs, 200 * kUs).found(), "launch_bound") == nullptr);
}

/// Each iteration has `calls` copies of 4 KiB and a kernel of 1 ms.
struct SmallCopies : MadeTrace {
  explicit SmallCopies(int calls) {
    add_path("iteration");
    const std::uint32_t name = add_name("step(float*)"), config = add_config(grid_of(4096, 256));
    repeat(5, [&](TimeNs at) {
      TimeNs now = at + 10 * kUs;
      for (int i = 0; i < calls; ++i, now += 6 * kUs) copy(1, MemoryKind::pinned, true, 4096, now, 2 * kUs);
      return add(1, name, config, now, kMs);
    });
  }
};

TEST_CASE("many small copies are found with the time of their calls") {
  const auto found = SmallCopies(50).found();

  const Finding* const small = find(found, "small_copies");
  REQUIRE(small != nullptr);
  CHECK(number(*small, "copies_per_repetition") == 50);
  CHECK(number(*small, "mean_bytes") == 4096);
  CHECK(*small->saving_ns == 4 * 49 * 4'000u);
}

TEST_CASE("a few small copies are no finding") {
  CHECK(find(SmallCopies(5).found(), "small_copies") == nullptr);
}

/// Each iteration has a kernel of 500 us. `waits`: the host synchronises after it. `allocates`: the host
/// allocates and frees before it, in the first `allocating_iterations`.
struct Waiting : MadeTrace {
  Waiting(bool waits, bool allocates, int allocating_iterations = 1'000) {
    add_path("iteration");
    const std::uint32_t name = add_name("step(float*)"), config = add_config(grid_of(4096, 256));
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
  const auto found = Waiting(true, false).found();

  const Finding* const sync = find(found, "sync_each_iteration");
  REQUIRE(sync != nullptr);
  CHECK(number(*sync, "syncs_per_repetition") == 1);
  CHECK(text(*sync, "apis") == "cuStreamSynchronize x 7");
  // 53 us of 553, after all iterations but the last.
  CHECK(number(*sync, "share_of_time") == Approx(53.0 / 553 * 7 / 8).epsilon(0.01));
}

TEST_CASE("a loop that does not wait has no synchronisation to report") {
  CHECK(find(Waiting(false, false).found(), "sync_each_iteration") == nullptr);
}

TEST_CASE("allocations in each iteration are counted with their time") {
  const auto found = Waiting(false, true).found();

  const Finding* const allocations = find(found, "allocations_in_loop");
  REQUIRE(allocations != nullptr);
  CHECK(number(*allocations, "allocs_per_repetition") == 1);
  CHECK(*allocations->saving_ns == 7 * 45'000u);
}

TEST_CASE("allocations only in the first iteration are warm-up") {
  CHECK(find(Waiting(false, true, 1).found(), "allocations_in_loop") == nullptr);
}

CaptureRecord capture(CaptureStep step, TimeNs at, std::int32_t result = 0) {
  CaptureRecord out;
  out.host = {at, at + kUs, MadeTrace::kThread, 1, 0};
  out.step = step;
  out.stream = 13;
  out.context = 1;
  out.result = result;
  return out;
}

TEST_CASE("calls that break a capture are named") {
  MadeTrace trace;
  trace.add_path("capture");
  trace.put(capture(CaptureStep::begin, 100 * kUs));
  trace.alloc(1, false, 110 * kUs, 120 * kUs);
  trace.sync(1, 130 * kUs, 131 * kUs);
  trace.put(capture(CaptureStep::end, 140 * kUs, 901));
  const auto found = trace.found();

  const Finding* const unsafe = find(found, "unsafe_during_capture");
  REQUIRE(unsafe != nullptr);
  CHECK(unsafe->severity == Severity::serious);
  CHECK(number(*unsafe, "failed") == 1);
  CHECK(text(*unsafe, "apis") == "cuMemAlloc x 1, cuStreamSynchronize x 1");
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
