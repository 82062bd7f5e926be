// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/sample_sharing.h"

#include <cmath>
#include <cstdint>

#include "tests/catch.h"
#include "tests/unit/attribution/sample_records.h"

using namespace rangefinder;
using namespace rangefinder::sample_records;

TEST_CASE("a sample's bytes are shared over its work in proportion to overlap") {
  const SampleSharing sharing =
      shared(kernel(1, 1'000, 4'000), kernel(2, 5'000, 6'000), samples(0, 10'000, {1'000}));

  CHECK(read_units(sharing, 1) == 750);
  CHECK(read_units(sharing, 2) == 250);
  CHECK(row_of(sharing.paths(), 1).bytes[kSharedDramWrite] == 375 * kSampleUnitBytes);
  CHECK(row_of(sharing.paths(), 1).bytes[kSharedL2] == 2'250 * kSampleUnitBytes);
  CHECK(sharing.totals().unattributed[kSharedDramRead] == 0);
}

TEST_CASE("a kernel over several samples gets its share of each") {
  const SampleSharing sharing =
      shared(kernel(1, 5'000, 25'000), kernel(2, 25'000, 30'000), samples(0, 10'000, {7, 11, 20}));

  CHECK(read_units(sharing, 1) == 7 + 11 + 10);
  CHECK(row_of(sharing.paths(), 1).samples == 3);
  CHECK(row_of(sharing.paths(), 1).overlap_ns == 20'000);
  CHECK(row_of(sharing.paths(), 1).work_ns == 20'000);
}

TEST_CASE("a sample with two kernels of a path counts once for the path") {
  const SampleSharing sharing = shared(kernel(1, 0, 100, 5), kernel(1, 200, 300, 6), samples(0, 1'000, {10}));

  CHECK(row_of(sharing.paths(), 1).samples == 1);
  CHECK(row_of(sharing.paths(), 1).overlap_ns == 200);
  CHECK(row_of(sharing.kernels(), 5).bytes[kSharedDramRead] == 5 * kSampleUnitBytes);
  CHECK(row_of(sharing.kernels(), 6).bytes[kSharedDramRead] == 5 * kSampleUnitBytes);
}

TEST_CASE("bytes while nothing runs are unattributed, those of idle samples too") {
  SamplesRecord record = samples(0, 1'000, {10, 40});
  record.idle_samples = 6;
  record.idle_units[kSampleDramRead] = 3;
  const SampleSharing sharing = shared(kernel(1, 0, 1'000), record);

  CHECK(sharing.totals().unattributed[kSharedDramRead] == 43 * kSampleUnitBytes);
  CHECK(sharing.totals().bytes[kSharedDramRead] == 53 * kSampleUnitBytes);
  CHECK(sharing.totals().samples == 2);
  CHECK(sharing.totals().idle_samples == 6);
}

TEST_CASE("units that do not divide evenly are all distributed") {
  SampleSharing sharing;
  for (std::uint32_t path = 1; path <= 7; ++path) sharing.add(kernel(path, 0, 1'000));
  sharing.add(samples(0, 1'000, {10, 3}));
  sharing.add(kernel(8, 1'000, 2'000));
  sharing.finish();

  std::uint64_t units = 0;
  for (std::uint32_t path = 1; path <= 7; ++path) {
    CHECK(read_units(sharing, path) >= 1);
    CHECK(read_units(sharing, path) <= 2);
    units += read_units(sharing, path);
  }
  CHECK(units == 10);
  CHECK(read_units(sharing, 8) == 3);
}

TEST_CASE("links have totals but are not attributed to paths") {
  SampleSharing sharing;
  SamplesRecord record = samples(0, 1'000, {0, 0});
  record.columns[kSamplePcieRead] = {5, 6};
  record.idle_units[kSampleNvlinkReceived] = 2;
  sharing.add(record);

  CHECK(sharing.totals().link_bytes[kSamplePcieRead] == 11 * kSampleUnitBytes);
  CHECK(sharing.totals().link_bytes[kSampleNvlinkReceived] == 2 * kSampleUnitBytes);
}

TEST_CASE("each GPU's samples are shared over its own work, a peer copy counts on both") {
  MemcpyRecord between = copy(3, 2'000, 3'000, 100, CopyKind::PtoP);
  between.destination_gpu = 1;
  const SampleSharing sharing = shared(kernel(1, 0, 1'000, 1, 0), kernel(2, 0, 1'000, 1, 1), between,
                                       samples(0, 1'000, {10, 0, 30}, 0), samples(0, 1'000, {20, 0, 40}, 1));

  CHECK(read_units(sharing, 1) == 10);
  CHECK(read_units(sharing, 2) == 20);
  CHECK(read_units(sharing, 3) == 70);
  CHECK(row_of(sharing.paths(), 3).work_ns == 1'000);
}

TEST_CASE("a sample is settled once it ends before the given time, not earlier") {
  SampleSharing sharing;
  sharing.add(samples(0, 10'000, {10, 20}));
  sharing.advance(19'999);
  CHECK(sharing.totals().samples == 1);
  sharing.add(kernel(1, 10'000, 20'000));
  CHECK(sharing.totals().late_work == 1);  // it began before the settled time

  sharing.advance(20'000);
  CHECK(read_units(sharing, 1) == 20);
}

TEST_CASE("work that comes after its samples were settled is counted as late") {
  SampleSharing sharing;
  sharing.add(samples(0, 10'000, {10}));
  sharing.advance(10'000);
  sharing.add(kernel(1, 0, 5'000));
  sharing.finish();

  CHECK(sharing.totals().late_work == 1);
  CHECK(sharing.totals().unattributed[kSharedDramRead] == 10 * kSampleUnitBytes);
  CHECK(row_of(sharing.paths(), 1).overlap_ns == 0);
  CHECK(row_of(sharing.paths(), 1).work_ns == 5'000);
}

TEST_CASE("a long-running kernel is kept despite frequent settling") {
  SampleSharing sharing;
  sharing.add(kernel(1, 0, 1'000'000'000));
  for (TimeNs at = 0; at < 1'000'000'000; at += 10'000'000) {
    sharing.add(kernel(2, at + 1'000, at + 2'000));
    sharing.add(samples(at + 5'000'000, 5'000'000, {100}));
    sharing.advance(at + 10'000'000);
  }
  sharing.finish();

  CHECK(read_units(sharing, 1) == 100 * 100);
  CHECK(read_units(sharing, 2) == 0);
}

TEST_CASE("no input, an idle GPU and a single sample work") {
  SampleSharing sharing;
  CHECK_FALSE(sharing.any());
  sharing.advance(1'000);
  sharing.finish();
  CHECK(sharing.paths().empty());
  CHECK(sharing.kernels().empty());

  SamplesRecord record;
  record.idle_samples = 1'000;
  const SampleSharing idle = shared(record);
  CHECK(idle.any());
  CHECK(idle.totals().idle_samples == 1'000);
  CHECK(idle.totals().samples == 0);

  const SampleSharing untimed = shared(kernel(1, kNoTime, kNoTime), samples(0, 1'000, {4}));
  CHECK(untimed.paths().empty());
  CHECK(untimed.totals().unattributed[kSharedDramRead] == 4 * kSampleUnitBytes);
}

TEST_CASE("samples without bytes still count as samples of their work") {
  SamplesRecord record;
  record.runs = {{0, 20'000, 2}};
  const SampleSharing sharing = shared(kernel(1, 0, 20'000), record);

  CHECK(row_of(sharing.paths(), 1).samples == 2);
  CHECK(row_of(sharing.paths(), 1).overlap_ns == 20'000);
}

TEST_CASE("pending work and samples are bounded") {
  SampleOrder order(1'000);
  std::size_t settled = 0;
  const auto sink = [&](const SampleBatch& batch) { settled += batch.samples.size(); };
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    order.add(0, {i * 100'000, i * 100'000 + 50'000, 1, 1});
    order.add(samples(i * 100'000, 100'000, {1}));
    if (const auto until = order.crowded_until()) order.advance(*until, sink);
  }
  CHECK(settled > 18'000);
  order.finish(sink);
  CHECK(settled == 20'000);
  CHECK_FALSE(order.crowded_until());
}

TEST_CASE("rates are learned: a light kernel beside a heavy one gets little, and the error covers the rest") {
  SampleSharing sharing;
  sharing.add_path(1, 0);
  sharing.add_path(2, 1);
  sharing.add_path(3, 1);
  // 3,000 units a us and 100: alone in some samples, together in others.
  std::uint64_t heavy = 0, light = 0;
  TimeNs at = 0;
  for (int i = 0; i < 4'000; ++i) {
    // Every eighth sample has the heavy one alone.
    const TimeNs first = 2'000 + 500 * (i % 7), second = i % 8 == 0 ? 1 : 3'000 + 700 * (i % 5);
    sharing.add(kernel(2, at, at + first, 5));
    sharing.add(kernel(3, at + first, at + first + second, 6));
    const auto of_heavy = static_cast<std::uint32_t>(3 * first),
               of_light = static_cast<std::uint32_t>(second / 10);
    heavy += of_heavy;
    light += of_light;
    sharing.add(samples(at, first + second, {of_heavy + of_light}));
    at += first + second;
  }
  sharing.finish();

  CHECK(read_units(sharing, 2) + read_units(sharing, 3) == heavy + light);
  CHECK(std::abs(static_cast<double>(read_units(sharing, 2)) / static_cast<double>(heavy) - 1) < 0.05);
  CHECK(static_cast<double>(read_units(sharing, 3)) < 3 * static_cast<double>(light));
  const double bound = row_of(sharing.paths(), 3).uncertain[kSharedDramRead] / kSampleUnitBytes +
                       0.02 * static_cast<double>(read_units(sharing, 3));  // as live_sampled_bytes()
  CHECK(std::abs(static_cast<double>(read_units(sharing, 3)) - static_cast<double>(light)) < bound);
  // What moves between two children stays in their parent.
  CHECK(row_of(sharing.paths(), 1).uncertain[kSharedDramRead] < 1);
}

TEST_CASE("a large device copy has its known bytes, and the kernel beside it the rest") {
  L2Sizes sizes;
  sizes.set(0, 1'000);
  SampleSharing sharing(sizes);
  MemcpyRecord large = copy(1, 0, 10'000, 60 * kSampleUnitBytes * 10);
  large.source = large.destination = MemoryKind::device;
  sharing.add(large);
  sharing.add(kernel(2, 0, 10'000));
  for (TimeNs at = 0; at < 10'000; at += 1'000) sharing.add(samples(at, 1'000, {100}));
  sharing.finish();

  CHECK(read_units(sharing, 1) == 600);
  CHECK(read_units(sharing, 2) == 400);
}
