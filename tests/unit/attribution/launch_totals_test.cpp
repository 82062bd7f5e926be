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
  const TotalsBuilder totals = tree(kernel(2, kNoTime, kNoTime));

  CHECK(row_of(totals, 2).kernels == 1);
  CHECK(row_of(totals, 2).timed_kernels == 0);
  CHECK_FALSE(row_of(totals, 2).has_gpu_time());
  CHECK(totals.gpu_span() == std::pair<TimeNs, TimeNs>{0, 0});
  CHECK(totals.kernels().at(0).timed == 0);
}

TEST_CASE("a whole graph adds its time to its path and ancestors, but no kernel") {
  const TotalsBuilder totals =
      tree(GraphRecord{{.start_ns = 100, .end_ns = 130, .path = 2}}, GraphRecord{{.path = 2}});

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
  const auto rows = tree(kernel(2, 0, 10, 1), kernel(2, 20, 25, 1), kernel(2, 30, 130, 2)).kernels();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == 2);
  CHECK(rows[1].name == 1);
  CHECK(rows[1].count == 2);
  CHECK(rows[1].total_ns == 15);
  CHECK(rows[1].min_ns == 5);
  CHECK(rows[1].max_ns == 10);
}

TEST_CASE("copies add up by direction in their path and ancestors, and by memory kind") {
  MemcpyRecord batch = copy(2, CopyKind::HtoD, 100, 10, 20);
  batch.count = 5;
  const TotalsBuilder totals =
      tree(batch, copy(3, CopyKind::HtoD, 1), copy(3, CopyKind::DtoH, 7, kNoTime, kNoTime));

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
  const TotalsBuilder totals =
      tree(kernel(2, 100, 200), copy(2, CopyKind::HtoD, 1, -50, 0), set_memory(0, 10, 300));

  CHECK(totals.gpu_span() == std::pair<TimeNs, TimeNs>{-50, 300});
}

TEST_CASE("a path with only a memset has a row") {
  CHECK(paths_of(tree(set_memory(3))) == std::vector<std::uint32_t>{1, 3, 0});
}
