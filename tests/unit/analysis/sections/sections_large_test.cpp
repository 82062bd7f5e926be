// SPDX-License-Identifier: Apache-2.0
//
// Sections over more lines than they keep in memory.
#include "tests/catch.h"
#include "tests/unit/analysis/sections/section_run.h"
#include "tools/analysis/sections/section_kinds.h"

using namespace rangefinder;

TEST_CASE("idle: calls of a host that runs ahead are dropped, calls during a gap are kept") {
  // A kernel of 900 ns every microsecond. Launches reach 50 ns into the gap after it; waits overlap no gap.
  constexpr TimeNs kKernels = 400'000;
  SectionView view;
  const auto section = find_section("idle")->make(view);
  for (TimeNs i = 0; i < kKernels; ++i) {
    const TimeNs start = 1'000 * i;
    const auto correlation = static_cast<std::uint32_t>(i + 1);
    section->line(SyncRecord{{start + 100, start + 200, 4711, 0, 0}, ""});
    section->line(LaunchRecord{{start + 850, start + 950, 4711, 0, 0}, "cuLaunchKernel", correlation});
    section->line(test::kernel(correlation, 0, start, start + 900));
  }

  const TraceTotals trace;
  const RowValues values(trace);
  const Table table = section->tables({trace, values, view}).front();

  REQUIRE(table.rows.size() == 1);
  const auto number = [&table](const std::string& key) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].key == key) return std::stoll(test::plain(table.rows.front()[i]));
    }
    return -1LL;
  };
  CHECK(number("gaps") == kKernels - 1);
  CHECK(number("idle_ns") == 100 * (kKernels - 1));
  CHECK(number("in_launch_ns") == 50 * (kKernels - 1));
  CHECK(number("in_sync_ns") == 0);
}
