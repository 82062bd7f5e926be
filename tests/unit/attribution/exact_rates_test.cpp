// SPDX-License-Identifier: Apache-2.0
//
// The time in which exact bytes moved: from kernel records or from counters.
#include "profiler/attribution/derived.h"
#include "tests/catch.h"
#include "tests/unit/attribution/totals_records.h"

using namespace rangefinder;
using namespace rangefinder::totals_records;

TEST_CASE("rates use kernel records if all kernels have one and bytes, else counters") {
  const GpuPeaks peaks;
  TotalsBuilder totals =
      tree(launched(exact(2, WorkKind::kernel, 1000, 10), 1),
           launched(exact(2, WorkKind::kernel, 1000, 10), 2), launched(kernel(2, 0, 900), 1));
  const auto rate_ns = [&totals, &peaks] { return exact_bytes(row_of(totals, 2), peaks).rate_ns; };
  CHECK(rate_ns() == 2000);  // the second kernel's record is missing
  totals.add(launched(kernel(2, 900, 1700), 2));
  CHECK(rate_ns() == 1700);
  totals.add(kernel(2, 5000, 9000));  // not measured: its time and bytes are not in the rate
  CHECK(rate_ns() == 1700);
  ExactRecord lost = launched(exact(2, WorkKind::kernel, 0, 0), 3);
  lost.measured = false;
  totals.add(lost);
  totals.add(launched(kernel(2, 2000, 2500), 3));
  CHECK(rate_ns() == 2000);
}

TEST_CASE("the time of overlapping kernels in a counter range counts once in the rate") {
  const TotalsBuilder totals = tree(
      launched(sharing(2, WorkKind::kernel, 1), 1), launched(sharing(2, WorkKind::kernel, 1), 2),
      counter_range(2, 1, 2, 2, 1000, 50), launched(kernel(2, 0, 800), 1), launched(kernel(2, 100, 900), 2));

  CHECK(exact_bytes(row_of(totals, 2), GpuPeaks{}).rate_ns == 900);
}

TEST_CASE("a graph's bytes are divided by the time of its kernels, wherever those were created") {
  KernelRecord node = launched(kernel(2, 0, 700), 1);
  node.work.graph_node = 1;
  node.work.captured = true;
  const TotalsBuilder totals = tree(launched(exact(3, WorkKind::graph, 1000, 10), 1), node);

  CHECK(exact_bytes(row_of(totals, 3), GpuPeaks{}).rate_ns == 700);
  CHECK(exact_bytes(row_of(totals, 1), GpuPeaks{}).rate_ns == 700);
}

TEST_CASE("rates cover kernels only, not measured copies") {
  // The counter range has a kernel and a copy.
  TotalsBuilder totals = tree(exact(2, WorkKind::memcpy, 0, 10), counter_range(2, 1, 2, 1, 1000, 50));
  const GpuPeaks peaks;
  const auto rate = [&totals, &peaks] {
    const PathTotals row = row_of(totals, 2);
    return derive(row, exact_bytes(row, peaks), peaks, {}).dram_bytes_per_s;
  };
  CHECK_FALSE(rate().has_value());
  totals.add(exact(2, WorkKind::kernel, 1000, 10));
  totals.add(counter_range(2, 2, 2, 2, 1000, 50));

  CHECK(*rate() == Approx(180.0 / 2000 * 1e9));
}
