// SPDX-License-Identifier: Apache-2.0
//
// Kernels, copies and memsets in the totals.
#include "profiler/attribution/path_totals.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/unit/attribution/totals_records.h"

using namespace rangefinder;
using namespace rangefinder::totals_records;

TEST_CASE("a kernel that CUPTI could not time is counted, not timed") {
  TotalsBuilder totals = tree();
  totals.add(kernel(2, kNoTime, kNoTime));

  CHECK(row_of(totals, 2).kernels == 1);
  CHECK(row_of(totals, 2).timed_kernels == 0);
  CHECK_FALSE(row_of(totals, 2).has_gpu_time());
  CHECK(totals.gpu_span() == std::pair<TimeNs, TimeNs>{0, 0});
  CHECK(totals.kernels().at(0).timed == 0);
}

TEST_CASE("a whole graph adds its time to its path and ancestors, but no kernel") {
  TotalsBuilder totals = tree();
  GraphRecord graph;
  graph.work.path = 2;
  graph.work.start_ns = 100;
  graph.work.end_ns = 130;
  totals.add(graph);
  graph.work.start_ns = graph.work.end_ns = kNoTime;
  totals.add(graph);

  for (const std::uint32_t path : {1u, 2u}) {
    CHECK(row_of(totals, path).graphs == 2);
    CHECK(row_of(totals, path).timed_graphs == 1);
    CHECK(row_of(totals, path).kernels == 0);
    CHECK(row_of(totals, path).gpu_ns == 30);
    CHECK(row_of(totals, path).gpu_busy_ns == 30);
    CHECK(row_of(totals, path).has_gpu_time());
  }
  CHECK(totals.gpu_span() == std::pair<TimeNs, TimeNs>{100, 130});
}

TEST_CASE("kernels by name come heaviest first, with minimum and maximum") {
  TotalsBuilder totals = tree();
  totals.add(kernel(2, 0, 10, 1));
  totals.add(kernel(2, 20, 25, 1));
  totals.add(kernel(2, 30, 130, 2));
  const auto rows = totals.kernels();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == 2);
  CHECK(rows[1].name == 1);
  CHECK(rows[1].count == 2);
  CHECK(rows[1].total_ns == 15);
  CHECK(rows[1].min_ns == 5);
  CHECK(rows[1].max_ns == 10);
}

TEST_CASE("copies add up by direction in their path and ancestors, and by memory kind") {
  TotalsBuilder totals = tree();
  MemcpyRecord batch = copy(2, CopyKind::HtoD, 100, 10, 20);
  batch.count = 5;
  totals.add(batch);
  totals.add(copy(3, CopyKind::HtoD, 1));
  totals.add(copy(3, CopyKind::DtoH, 7, kNoTime, kNoTime));

  CHECK(row_of(totals, 1).memcpy_bytes[static_cast<std::size_t>(CopyKind::HtoD)] == 101);
  CHECK(row_of(totals, 3).memcpy_bytes[static_cast<std::size_t>(CopyKind::DtoH)] == 7);
  const auto rows = totals.copies();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].kind == CopyKind::HtoD);
  CHECK(rows[0].count == 6);
  CHECK(rows[0].bytes == 101);
  CHECK(rows[0].total_ns == 20);
  CHECK(rows[1].timed == 0);
}

TEST_CASE("the span of GPU work covers kernels, copies and memsets, even before time 0") {
  TotalsBuilder totals = tree();
  totals.add(kernel(2, 100, 200));
  totals.add(copy(2, CopyKind::HtoD, 1, -50, 0));
  MemsetRecord memset;
  memset.work.start_ns = 10;
  memset.work.end_ns = 300;
  totals.add(memset);

  CHECK(totals.gpu_span() == std::pair<TimeNs, TimeNs>{-50, 300});
}

TEST_CASE("a path with only a memset has a row") {
  TotalsBuilder totals = tree();
  MemsetRecord memset;
  memset.work.path = 3;
  totals.add(memset);

  CHECK(paths_of(totals) == std::vector<std::uint32_t>{1, 3, 0});
}
