// SPDX-License-Identifier: Apache-2.0
//
// Exact lines add bytes to the totals, never kernels or their time, which come from records.
#include <cstddef>
#include <vector>

#include "profiler/attribution/derived.h"
#include "profiler/attribution/path_totals.h"
#include "tests/catch.h"
#include "tests/unit/attribution/totals_records.h"

using namespace rangefinder;
using namespace rangefinder::totals_records;

namespace {

// A kernel of `ns` with the exact line of its launch.
void add_measured(TotalsBuilder& totals, std::uint32_t path, std::uint32_t correlation, TimeNs start_ns,
                  TimeNs ns) {
  totals.add(launched(exact(path, WorkKind::kernel, 999, 10), correlation));
  totals.add(launched(kernel(path, start_ns, start_ns + ns), correlation));
}

// A node, created at `path`, of graph launch `correlation`.
KernelRecord node(std::uint32_t path, std::uint32_t correlation, TimeNs start_ns) {
  KernelRecord record = launched(kernel(path, start_ns, start_ns + 10), correlation);
  record.work.graph_node = 1;
  record.work.captured = true;
  return record;
}

}  // namespace

TEST_CASE("exact lines add bytes, but no kernels and no GPU time") {
  const TotalsBuilder totals = tree(exact(2, WorkKind::kernel, 100, 10), exact(2, WorkKind::graph, 50, 20),
                                    exact(3, WorkKind::memcpy, 999, 30), exact(3, WorkKind::memset, 999, 40));

  const PathTotals model = row_of(totals, 1);
  CHECK(model.kernels == 0);
  CHECK(model.gpu_ns == 0);
  CHECK_FALSE(model.has_gpu_time());  // kernels were launched, so 0 would be wrong
  CHECK(row_of(totals, 3).has_gpu_time());
  CHECK(model.counters.kernels == 2);
  CHECK(model.counters.measured == 4);
  CHECK(model.counters.gpu_ns == 150);
  CHECK(model.counters.dram_read_bytes == 100);
  CHECK(model.counters.dram_write_bytes == 200);
  CHECK(model.counters.l2_bytes == 300);
}

TEST_CASE("a measured kernel is one kernel, timed by its record, and lacks no bytes") {
  TotalsBuilder totals = tree();
  add_measured(totals, 2, 1, 0, 40);
  add_measured(totals, 2, 2, 100, 50);

  const PathTotals row = row_of(totals, 1);
  CHECK(row.kernels == 2);
  CHECK(row.timed_kernels == 2);
  CHECK(row.gpu_ns == 90);
  CHECK(row.gpu_busy_ns == 90);
  CHECK(row.counters.gpu_ns == 2 * 999);
  CHECK(row.counters.recorded_kernels == 2);
  CHECK(row.counters.recorded_ns == 90);
  CHECK(row.launches_without_bytes() == 0);
  const auto kernels = totals.kernels();
  REQUIRE(kernels.size() == 1);
  CHECK(kernels[0].count == 2);
  CHECK(kernels[0].total_ns == 90);
  CHECK(kernels[0].max_ns == 50);
  CHECK(kernels[0].counters.with_bytes == 2);
  CHECK(kernels[0].counters.dram_read_bytes == 20);
}

TEST_CASE("work of plain launches lacks bytes: kernels, copies and memsets") {
  TotalsBuilder totals = tree(kernel(3, 0, 10), copy(3, CopyKind::HtoD, 5), set_memory(3));
  add_measured(totals, 2, 1, 0, 40);

  CHECK(row_of(totals, 1).launches_without_bytes() == 3);
  CHECK(row_of(totals, 2).launches_without_bytes() == 0);
  CHECK(row_of(totals, 3).launches_without_bytes() == 3);
}

TEST_CASE("measured copies and memsets lack no bytes, however many records a launch has") {
  TotalsBuilder totals = tree(launched(exact(2, WorkKind::memcpy, 0, 10), 1),
                              launched(exact(2, WorkKind::memset, 0, 10), 2), launched(set_memory(2), 2));
  for (int part = 0; part < 3; ++part) totals.add(launched(copy(2, CopyKind::HtoD, 5), 1));

  CHECK(row_of(totals, 1).launches_without_bytes() == 0);
}

TEST_CASE("a record before its exact line, or whose slot was overwritten, counts as not measured") {
  TotalsBuilder totals = tree(launched(kernel(2, 0, 10), 1), launched(exact(2, WorkKind::kernel, 0, 10), 1));
  CHECK(row_of(totals, 2).launches_without_bytes() == 1);
  totals.add(launched(exact(3, WorkKind::kernel, 0, 10), 2));
  totals.add(launched(exact(4, WorkKind::kernel, 0, 10), 2 + ExactOrigins::kSlots));
  totals.add(launched(kernel(3, 0, 10), 2));
  CHECK(row_of(totals, 3).launches_without_bytes() == 1);
  totals.add(launched(kernel(4, 0, 10), 2 + ExactOrigins::kSlots));
  CHECK(row_of(totals, 4).launches_without_bytes() == 0);
}

TEST_CASE("the one exact line of a graph covers all of its kernels") {
  TotalsBuilder totals = tree(launched(exact(2, WorkKind::graph, 999, 10), 1));
  for (int i = 0; i < 5; ++i) totals.add(launched(kernel(2, 100 * i, 100 * i + 10), 1));

  const PathTotals row = row_of(totals, 2);
  CHECK(row.kernels == 5);
  CHECK(row.gpu_ns == 50);
  CHECK(row.launches_without_bytes() == 0);
  CHECK(row.counters.recorded_kernels == 1);  // the graph is one launch
  CHECK(row.counters.recorded_ns == 50);
}

TEST_CASE("a graph's bytes are missing where it was created, not where it was launched or above both") {
  TotalsBuilder totals =
      tree(launched(exact(3, WorkKind::graph, 999, 10), 1), node(2, 1, 0), node(2, 1, 100));
  add_measured(totals, 2, 2, 200, 30);

  CHECK(row_of(totals, 2).launches_without_bytes() == 2);
  CHECK(row_of(totals, 3).launches_without_bytes() == 0);
  CHECK(row_of(totals, 1).launches_without_bytes() == 0);
  CHECK(row_of(totals, 2).gpu_ns == 50);
  CHECK(row_of(totals, 2).counters.recorded_ns == 30);
  CHECK(row_of(totals, 3).counters.recorded_ns == 20);  // the time in which its bytes moved
  CHECK(row_of(totals, 3).gpu_ns == 0);
  CHECK(row_of(totals, 3).has_gpu_time());  // it really has no kernel of its own
}

TEST_CASE("a counter range's bytes count once at its path, its kernels come from records") {
  // The second kernel is of another path: the range is not exclusive.
  const TotalsBuilder totals =
      tree(launched(sharing(2, WorkKind::kernel, 7), 1), counter_range(2, 7, 3, 2, 100, 10),
           launched(sharing(3, WorkKind::kernel, 7, 2), 2), launched(sharing(2, WorkKind::memset, 7), 3),
           launched(kernel(2, 0, 40), 1), launched(kernel(3, 40, 90, 2), 2));

  const PathTotals encoder = row_of(totals, 2);
  CHECK(encoder.kernels == 1);
  CHECK(encoder.gpu_ns == 40);
  CHECK(encoder.counters.launches == 2);
  CHECK(encoder.counters.measured == 3);
  CHECK(encoder.counters.gpu_ns == 100);
  CHECK(encoder.counters.dram_read_bytes == 10);
  CHECK(row_of(totals, 3).kernels == 1);
  CHECK(row_of(totals, 3).counters.measured == 0);
  const PathTotals model = row_of(totals, 1);
  CHECK(model.kernels == 2);
  CHECK(model.gpu_ns == 90);
  CHECK(model.counters.launches == 3);
  CHECK(model.counters.with_bytes == 3);
  CHECK(model.counters.dram_read_bytes == 10);
  CHECK(model.launches_without_bytes() == 0);
  const auto kernels = totals.kernels();
  REQUIRE(kernels.size() == 2);
  CHECK(kernels[0].count == 1);
  CHECK(kernels[0].total_ns == 50);
  CHECK(kernels[0].counters.with_bytes == 0);  // the range's bytes are the sum of all its kernels
}

TEST_CASE("every launch of a counter range without values is unmeasured") {
  ExactRecord lost = counter_range(2, 1, 3, 2, 100, 10);
  lost.measured = false;
  const TotalsBuilder totals = tree(lost, sharing(2, WorkKind::kernel, 1), sharing(2, WorkKind::kernel, 1),
                                    sharing(2, WorkKind::memset, 1));

  CHECK(row_of(totals, 2).counters.unmeasured == 3);
  CHECK(row_of(totals, 2).counters.measured == 0);
  CHECK(row_of(totals, 2).launches_without_bytes() == 3);
}

TEST_CASE("a counter range of copies only has bytes and no kernel time") {
  const TotalsBuilder totals = tree(sharing(2, WorkKind::memcpy, 1), counter_range(2, 1, 1, 0, 500, 10));

  CHECK(row_of(totals, 2).counters.gpu_ns == 0);
  CHECK(row_of(totals, 2).counters.with_bytes == 1);
}

TEST_CASE("a range with foreign work counts as not exclusive, one without launches is ignored") {
  ExactRecord mixed = counter_range(2, 1, 1, 1, 500, 10);
  mixed.exclusive = false;
  const TotalsBuilder totals = tree(mixed, counter_range(3, 2, 0, 0, 500, 10));

  CHECK(row_of(totals, 1).counters.not_exclusive == 1);
  CHECK(row_of(totals, 1).counters.dram_read_bytes == 10);
  CHECK(paths_of(totals) == std::vector<std::uint32_t>{1, 2, 0});
}

TEST_CASE("large device copies alone in their range are compared with the measured bytes, in any order") {
  const auto measured = [](std::uint32_t correlation, std::uint64_t bytes) {
    ExactRecord record = exact(2, WorkKind::memcpy, 0, bytes / 2);  // reads half of it, writes all of it
    record.launch.correlation = correlation;
    record.bytes = bytes;
    return record;
  };
  const auto known = [](std::uint32_t correlation, CopyKind kind, std::uint64_t bytes) {
    MemcpyRecord record = launched(copy(2, kind, bytes), correlation);
    record.source = record.destination = MemoryKind::device;
    return record;
  };
  ExactRecord shared = measured(5, kTruthMinBytes);
  shared.counter_range = 9;
  // The third copies to the host: not all of its traffic is DRAM.
  const TotalsBuilder totals = tree(
      measured(1, kTruthMinBytes), known(1, CopyKind::DtoD, kTruthMinBytes),
      known(2, CopyKind::DtoD, 2 * kTruthMinBytes), measured(2, 2 * kTruthMinBytes),
      measured(3, kTruthMinBytes), known(3, CopyKind::DtoH, kTruthMinBytes), measured(4, kTruthMinBytes - 1),
      known(4, CopyKind::DtoD, kTruthMinBytes - 1), shared, known(5, CopyKind::DtoD, kTruthMinBytes));

  CHECK(totals.truth().copies == 2);
  CHECK(totals.truth().known_bytes == 6 * kTruthMinBytes);
  CHECK(totals.truth().measured_bytes == 9 * kTruthMinBytes / 2);
}

TEST_CASE("unmeasured exact launches are counted, and their kernels lack bytes") {
  ExactRecord lost = exact(2, WorkKind::kernel, 100, 10);
  lost.measured = false;
  const TotalsBuilder totals = tree(lost, launched(kernel(2, 0, 10), 0));

  const PathTotals model = row_of(totals, 1);
  CHECK(model.kernels == 1);
  CHECK(model.gpu_ns == 10);
  CHECK(model.launches_without_bytes() == 1);
  CHECK(model.counters.unmeasured == 1);
  CHECK(model.counters.measured == 0);
  CHECK(model.counters.dram_read_bytes == 0);
}

TEST_CASE("records of a graph launch may come before its exact line") {
  TotalsBuilder totals = tree();
  totals.expect_exact_lines();
  for (const TimeNs at : {0, 100}) {
    KernelRecord early = node(2, 1, at);
    early.work.graph = 7;
    totals.add(early);
  }
  CHECK(row_of(totals, 2).launches_without_bytes() == 2);  // so far
  ExactRecord line = launched(exact(3, WorkKind::graph, 999, 10), 1);
  line.bytes_path = 1;
  totals.add(line);
  KernelRecord late = node(3, 1, 200);
  late.work.graph = 7;
  totals.add(late);

  CHECK(row_of(totals, 2).launches_without_bytes() == 2);
  CHECK(row_of(totals, 3).launches_without_bytes() == 1);
  CHECK(row_of(totals, 1).launches_without_bytes() == 0);
  CHECK(row_of(totals, 1).counters.recorded_kernels == 1);
  CHECK(row_of(totals, 1).counters.recorded_ns == 30);
  CHECK(exact_bytes(row_of(totals, 2), GpuPeaks{}).source == RowBytes::Source::none);
  CHECK(exact_bytes(row_of(totals, 2), GpuPeaks{}).in_graph);
}

TEST_CASE("the oldest held launches are dropped, and count as not measured") {
  TotalsBuilder totals = tree();
  totals.expect_exact_lines();
  for (std::uint32_t i = 0; i < ExactOrigins::kMaxHeld + 5; ++i) {
    KernelRecord early = node(2, i + 1, i);
    early.work.graph = 7;
    totals.add(early);
  }
  totals.add(launched(exact(2, WorkKind::graph, 999, 10), 1));
  CHECK(row_of(totals, 2).launches_without_bytes() == ExactOrigins::kMaxHeld + 5);
  totals.add(launched(exact(2, WorkKind::graph, 999, 10), ExactOrigins::kMaxHeld));
  CHECK(row_of(totals, 2).launches_without_bytes() == ExactOrigins::kMaxHeld + 4);
}
