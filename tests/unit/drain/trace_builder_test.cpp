// SPDX-License-Identifier: Apache-2.0
//
// The join: GPU records and the launches that caused them, in every order.
#include "profiler/drain/trace_builder.h"

#include <algorithm>
#include <array>

#include "tests/catch.h"
#include "tests/unit/drain/built_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

void check_balance(const LaunchBalance& balance, std::uint64_t launched, std::uint64_t recorded,
                   std::uint64_t exact, std::uint64_t lost) {
  CHECK(balance.launched == launched);
  CHECK(balance.recorded == recorded);
  CHECK(balance.exact == exact);
  CHECK(balance.lost == lost);
}

}  // namespace

TEST_CASE("a kernel gets the path and range of its launch, and times relative to the base") {
  BuiltTrace trace;
  trace.event(launch_event(5, "cuLaunchKernel", trace.layer));

  trace.builder.on_kernel(kernel_activity(5));

  const WrittenTrace written = trace.read();
  const KernelRecord kernel = written.only<KernelRecord>();
  CHECK(kernel.work.path == trace.layer);
  CHECK(kernel.work.range == trace.layer * 100);
  CHECK(kernel.work.start_ns == 20'000);
  CHECK(kernel.work.end_ns == 23'000);
  CHECK(kernel.work.correlation == 5);
  const LaunchRecord launch = written.only<LaunchRecord>();
  CHECK(launch.api == "cuLaunchKernel");
  CHECK(launch.host.thread == kThread);
  CHECK(launch.host.start_ns == 10'000);
  CHECK(launch.host.end_ns == 12'000);
  CHECK(launch.host.path == trace.layer);
  CHECK(launch.context == 1);
}

TEST_CASE("launches and records give the same joined lines in any order") {
  std::array<int, 4> order{0, 1, 2, 3};
  do {
    INFO("order " << order[0] << order[1] << order[2] << order[3]);
    BuiltTrace trace;
    for (const int step : order) {
      if (step == 0) trace.event(launch_event(5, "cuLaunchKernel", trace.layer));
      if (step == 1) trace.event(launch_event(6, "cuMemcpyHtoDAsync", trace.model, 64));
      if (step == 2) trace.builder.on_kernel(kernel_activity(5));
      if (step == 3) trace.builder.on_memcpy(copy_activity(6, 64));
      trace.tick(step);
    }
    trace.builder.finish();

    const WrittenTrace written = trace.read();
    CHECK(written.only<KernelRecord>().work.path == trace.layer);
    CHECK(written.only<MemcpyRecord>().work.path == trace.model);
    CHECK(trace.loss(Loss::record_without_launch) == 0);
    CHECK(trace.loss(Loss::launch_without_record) == 0);
    check_balance(trace.balance(WorkKind::kernel), 1, 1, 0, 0);
    check_balance(trace.balance(WorkKind::memcpy), 1, 1, 0, 0);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("a record waits 2 s for its launch; then it is written without a path and counted") {
  BuiltTrace trace;
  trace.tick(0);
  trace.builder.on_kernel(kernel_activity(5));

  trace.tick(2 * kSecond);
  CHECK(trace.read().all<KernelRecord>().empty());
  CHECK(trace.loss(Loss::record_without_launch) == 0);
  trace.tick(2 * kSecond + 1);

  CHECK(trace.read().only<KernelRecord>().work.path == 0);
  CHECK(trace.loss(Loss::record_without_launch) == 1);
}

TEST_CASE("a record of the first turn waits as long as any other") {
  BuiltTrace trace;
  trace.builder.on_kernel(kernel_activity(5));  // before the first tick

  trace.tick(1000);
  trace.event(launch_event(5, "cuLaunchKernel", trace.layer));
  trace.tick(2000);

  CHECK(trace.read().only<KernelRecord>().work.path == trace.layer);
  CHECK(trace.loss(Loss::record_without_launch) == 0);
}

TEST_CASE("a launch that comes after its record was written without a path has no record") {
  BuiltTrace trace;
  trace.builder.on_kernel(kernel_activity(5));
  trace.tick(3 * kSecond);
  trace.event(launch_event(5, "cuLaunchKernel", trace.layer));

  trace.builder.finish();

  check_balance(trace.balance(WorkKind::kernel), 1, 0, 0, 1);
  CHECK(trace.loss(Loss::launch_without_record) == 1);
}

TEST_CASE("records that wait at the end are joined if possible, and always written") {
  BuiltTrace trace;
  trace.builder.on_kernel(kernel_activity(5));
  trace.builder.on_kernel(kernel_activity(6));
  trace.event(launch_event(5, "cuLaunchKernel", trace.layer));

  trace.builder.finish();

  const auto kernels = trace.read().all<KernelRecord>();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].work.path == trace.layer);
  CHECK(kernels[1].work.path == 0);
  CHECK(trace.loss(Loss::record_without_launch) == 1);
}

TEST_CASE("at most 65,536 records wait: the oldest is written first") {
  BuiltTrace trace;
  constexpr auto kMax = static_cast<std::uint32_t>(TraceBuilder::kMaxPending);
  for (std::uint32_t id = 1; id <= kMax; ++id)
    trace.builder.on_memset({gpu_work(id), 0, 4, MemoryKind::device});
  CHECK(trace.loss(Loss::record_without_launch) == 0);

  trace.builder.on_memset({gpu_work(kMax + 1), 0, 4, MemoryKind::device});

  CHECK(trace.read().only<MemsetRecord>().work.correlation == 1);
  CHECK(trace.loss(Loss::record_without_launch) == 1);
}

TEST_CASE("copies and memsets of 0 bytes need no record") {
  BuiltTrace trace;
  trace.event(launch_event(5, "cuMemcpyHtoDAsync", trace.model, 0));
  trace.event(launch_event(6, "cuMemsetD8Async", trace.model, 0));

  trace.builder.finish();

  check_balance(trace.balance(WorkKind::memcpy), 0, 0, 0, 0);
  check_balance(trace.balance(WorkKind::memset), 0, 0, 0, 0);
  CHECK(trace.loss(Loss::launch_without_record) == 0);
  CHECK(trace.read().all<LaunchRecord>().size() == 2);
}

TEST_CASE("a captured launch is no loss, and is joined if it has a record") {
  BuiltTrace trace;
  for (const std::uint32_t id : {5u, 6u}) {
    Event captured = launch_event(id, "cuLaunchKernel", trace.layer);
    captured.flags = kLaunchCaptured;
    trace.event(captured);
  }

  // In an old recording: of another stream than the captured one.
  trace.builder.on_kernel(kernel_activity(6));
  trace.builder.finish();

  CHECK(trace.read().only<KernelRecord>().work.path == trace.layer);
  check_balance(trace.balance(WorkKind::kernel), 0, 0, 0, 0);
  CHECK(trace.loss(Loss::launch_without_record) == 0);
}

TEST_CASE("a call that failed has a line with its result and launched nothing") {
  BuiltTrace trace;
  Event failed = launch_event(5, "cuLaunchKernel", trace.layer);
  failed.launch.result = 700;

  trace.event(failed);
  trace.builder.finish();

  CHECK(trace.read().only<LaunchRecord>().result == 700);
  check_balance(trace.balance(WorkKind::kernel), 0, 0, 0, 0);
}

TEST_CASE("the balance is kept by kind, and missing records are counted as lost") {
  BuiltTrace trace;
  trace.event(launch_event(1, "cuLaunchKernel", trace.layer));
  trace.event(launch_event(2, "cuLaunchKernel", trace.layer));
  trace.event(launch_event(3, "cuMemsetD8Async", trace.layer, 4));
  trace.event(launch_event(4, "cuGraphLaunch", trace.layer));
  trace.builder.on_kernel(kernel_activity(1));

  trace.builder.finish();

  check_balance(trace.balance(WorkKind::kernel), 2, 1, 0, 1);
  check_balance(trace.balance(WorkKind::memset), 1, 0, 0, 1);
  check_balance(trace.balance(WorkKind::graph), 1, 0, 0, 1);
  CHECK(trace.loss(Loss::launch_without_record) == 3);
}

TEST_CASE("work that CUPTI could not time is written without times, and counted") {
  BuiltTrace trace;
  trace.event(launch_event(5, "cuLaunchKernel", trace.layer));
  KernelActivity kernel = kernel_activity(5);
  kernel.work.start_ns = kernel.work.end_ns = kNoTime;

  trace.builder.on_kernel(kernel);

  const GpuWork work = trace.read().only<KernelRecord>().work;
  CHECK(work.start_ns == kNoTime);
  CHECK(work.end_ns == kNoTime);
  CHECK(work.path == trace.layer);
  CHECK(trace.loss(Loss::gpu_work_untimed) == 1);
  CHECK(trace.builder.untimed_graph_work() == 0);
}

TEST_CASE("totals count a kernel in its path and in every parent path") {
  BuiltTrace trace;
  trace.event(launch_event(5, "cuLaunchKernel", trace.layer));
  trace.builder.on_kernel(kernel_activity(5));

  const auto rows = trace.builder.totals().paths();

  REQUIRE(rows.size() == 3);
  CHECK(rows[0].path == trace.model);
  CHECK(rows[0].gpu_ns == 3'000);
  CHECK(rows[0].gpu_ns_exclusive == 0);
  CHECK(rows[1].path == trace.layer);
  CHECK(rows[1].gpu_ns_exclusive == 3'000);
  CHECK(rows[2].path == 0);
}
