// SPDX-License-Identifier: Apache-2.0
//
// Windows that begin and end while the application runs: which records belong to them.
#include "profiler/drain/trace_builder.h"

#include "tests/catch.h"
#include "tests/unit/drain/built_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

}  // namespace

TEST_CASE("work launched before a late window is not in it, and is no loss") {
  BuiltTrace trace;
  trace.builder.begin_late();
  trace.builder.on_kernel(kernel_activity(5));
  trace.event(launch_event(7, "cuLaunchKernel", trace.layer));
  trace.builder.on_kernel(kernel_activity(7));

  trace.builder.finish();

  CHECK(trace.read().only<KernelRecord>().work.correlation == 7);
  CHECK(trace.loss(Loss::record_without_launch) == 0);
}

TEST_CASE("a late window without launches holds no earlier work") {
  BuiltTrace trace;
  trace.builder.begin_late();
  trace.tick(0);
  trace.builder.on_kernel(kernel_activity(5));

  trace.tick(3 * kSecond);

  CHECK(trace.read().all<KernelRecord>().empty());
  CHECK(trace.loss(Loss::record_without_launch) == 0);
}

TEST_CASE("correlation ids that wrap around within a late window stay in order") {
  BuiltTrace trace;
  trace.builder.begin_late();
  trace.event(launch_event(0xffff'fff0U, "cuLaunchKernel", trace.layer));
  trace.event(launch_event(3, "cuLaunchKernel", trace.layer));
  trace.builder.on_kernel(kernel_activity(0xffff'fff0U));
  trace.builder.on_kernel(kernel_activity(3));
  trace.builder.on_kernel(kernel_activity(0xffff'ffefU));  // before
  trace.builder.on_kernel(kernel_activity(4));             // its launch was lost

  trace.builder.finish();

  CHECK(trace.read().all<KernelRecord>().size() == 3);
  CHECK(trace.loss(Loss::record_without_launch) == 1);
}

TEST_CASE("work after the window's end is excluded; earlier work without its launch is loss") {
  BuiltTrace trace;
  KernelActivity before = kernel_activity(5), after = kernel_activity(6);
  const std::int64_t end_ns = after.work.start_ns;
  before.work.start_ns -= kSecond;
  before.work.end_ns -= kSecond;
  trace.builder.on_kernel(before);
  trace.builder.on_kernel(after);
  trace.builder.end_window(end_ns);

  CHECK_FALSE(trace.builder.all_joined());
  trace.builder.finish();

  CHECK(trace.read().only<KernelRecord>().work.correlation == 5);
  CHECK(trace.loss(Loss::record_without_launch) == 1);
}

TEST_CASE("all is joined when each launch has its record and each record its launch") {
  BuiltTrace trace;
  CHECK(trace.builder.all_joined());
  trace.event(launch_event(5, "cuLaunchKernel", trace.layer));
  trace.event(launch_event(6, "cuMemcpyHtoDAsync", trace.model, 0));  // 0 bytes: no record comes
  CHECK_FALSE(trace.builder.all_joined());
  trace.builder.on_kernel(kernel_activity(5));
  CHECK(trace.builder.all_joined());

  trace.builder.on_kernel(kernel_activity(9));
  CHECK_FALSE(trace.builder.all_joined());
  trace.event(launch_event(9, "cuLaunchKernel", trace.layer));
  trace.tick(1);

  CHECK(trace.builder.all_joined());
}
