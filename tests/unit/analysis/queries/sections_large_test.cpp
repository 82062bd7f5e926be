// SPDX-License-Identifier: Apache-2.0
//
// Sections over traces of many chunks.
#include "tests/catch.h"
#include "tests/unit/analysis/queries/section_run.h"

using namespace rangefinder;

TEST_CASE("idle: calls of a host that runs ahead are dropped, calls during a gap are kept") {
  // A kernel of 900 ns every microsecond. Launches reach 50 ns into the gap after it; waits overlap no gap.
  constexpr TimeNs kKernels = 40'000;
  std::vector<std::string> lines;
  for (TimeNs i = 0; i < kKernels; ++i) {
    const TimeNs start = 1'000 * i;
    const auto correlation = static_cast<std::uint32_t>(i + 1);
    lines.push_back(test::line_of(SyncRecord{{start + 100, start + 200, 4711, 0, 0}, ""}));
    lines.push_back(test::line_of(test::call("cuLaunchKernel", correlation, start + 850, start + 950)));
    lines.push_back(test::line_of(test::kernel(correlation, 0, start, start + 900)));
  }

  const test::SectionRun run = test::run_over("idle", lines);

  REQUIRE(run.table("idle").rows.size() == 1);
  run.check("idle", 0U,
            {{"gaps", kKernels - 1},
             {"idle_ns", 100 * (kKernels - 1)},
             {"in_launch_ns", 50 * (kKernels - 1)},
             {"in_sync_ns", 0}});
}
