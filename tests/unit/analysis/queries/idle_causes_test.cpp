// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/idle_causes.h"

#include "tests/catch.h"
#include "tests/unit/analysis/findings/findings_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

std::uint64_t ns_of(const IdleTime& time, IdleCause cause) {
  return time[static_cast<std::size_t>(cause)];
}

/// Two kernels, 50 us apart.
struct TwoKernels : MadeTrace {
  /// `launched`: the second one. The first starts at 30 us.
  explicit TwoKernels(TimeNs launched) {
    const std::uint32_t path = add_path("step"), name = add_name("busy()");
    const std::uint32_t config = add_config(grid_of(64, 128));
    add({path, name, config, 10'000, 30'000, 40'000});
    add({path, name, config, launched, 90'000, 100'000});
  }
};

HostFunctionRecord host_function(TimeNs start, TimeNs end) {
  HostFunctionRecord out;
  out.wait.start_ns = start;
  out.wait.end_ns = end;
  out.wait.context = 1;
  out.wait.stream = 13;
  return out;
}

IdleTime idle_of(const MadeTrace& made) {
  made.write();
  WholeTrace trace(open_trace_folder(made.folder.path()), IdleCauses::kColumns);
  IdleCauses out(trace.iterations());
  trace.each([&out](const SelectedRows& rows) { out.add(rows); });
  out.finish();
  return out.total();
}

}  // namespace

TEST_CASE("the kept times of host code are the idle time without calls, of the launching thread") {
  TwoKernels made(80'000);
  made.sync(1, 45'000, 60'000);
  made.write();
  WholeTrace trace(open_trace_folder(made.folder.path()), IdleCauses::kColumns);
  IdleCauses causes(trace.iterations());
  causes.keep_host_times();
  trace.each([&causes](const SelectedRows& rows) { causes.add(rows); });
  causes.finish();

  std::vector<std::pair<TimeNs, TimeNs>> kept;
  std::uint64_t kept_ns = 0;
  causes.host_times().code.each([&](std::uint32_t thread, const GapList& spans) {
    CHECK(thread == MadeTrace::kThread);
    spans.each([&](const Gap& span) {
      kept.emplace_back(span.from_ns, span.to_ns);
      kept_ns += span.ns();
    });
  });
  // From the first kernel's end to the second's start, without the wait and the launch.
  CHECK(kept == std::vector<std::pair<TimeNs, TimeNs>>{{40'000, 45'000}, {60'000, 80'000}, {84'000, 90'000}});
  CHECK(kept_ns == ns_of(causes.total(), IdleCause::host_code));
  std::uint64_t waiting_ns = 0;
  causes.host_times().waiting.each([&](std::uint32_t, const GapList& spans) {
    spans.each([&](const Gap& span) { waiting_ns += span.ns(); });
  });
  CHECK(waiting_ns == ns_of(causes.total(), IdleCause::waiting));
  CHECK(waiting_ns == 15'000);
}

TEST_CASE("the parts of gaps add up to the idle time by cause, in order and without overlap") {
  for (const TimeNs launched : {15'000, 80'000}) {
    TwoKernels made(launched);
    made.sync(1, 45'000, 60'000);
    made.put(host_function(50'000, 65'000));
    made.write();
    WholeTrace trace(open_trace_folder(made.folder.path()), IdleCauses::kColumns);
    IdleCauses causes(trace.iterations());
    IdleTime sums{};
    TimeNs until = 0;
    causes.each_part_from_now([&](TimeNs start, TimeNs end, IdleCause cause) {
      CHECK(start >= until);
      CHECK(end > start);
      sums[static_cast<std::size_t>(cause)] += static_cast<std::uint64_t>(end - start);
      until = end;
    });
    trace.each([&causes](const SelectedRows& rows) { causes.add(rows); });
    causes.finish();

    CHECK(sums == causes.total());
    CHECK(until == 90'000);
  }
}

TEST_CASE("a gap between launched kernels is queued") {
  CHECK(ns_of(idle_of(TwoKernels(15'000)), IdleCause::queued) == 50'000);
}

TEST_CASE("a host function is the cause of the part of the gap in which it ran") {
  TwoKernels trace(15'000);
  trace.put(host_function(35'000, 60'000));  // began before the gap
  trace.put(host_function(50'000, 65'000));  // of another stream, at the same time

  const IdleTime idle = idle_of(trace);

  CHECK(ns_of(idle, IdleCause::host_function) == 25'000);
  CHECK(ns_of(idle, IdleCause::queued) == 25'000);
}

TEST_CASE("a host function is no cause of a gap that ends with a late launch") {
  TwoKernels trace(80'000);
  trace.put(host_function(45'000, 60'000));

  CHECK(ns_of(idle_of(trace), IdleCause::host_function) == 0);
}
