// SPDX-License-Identifier: Apache-2.0
//
// Counter lines: the three forms of `exact`, metric sets, samples, truth. write ─▶ read ─▶ the same.
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/catch.h"
#include "tests/unit/schema/round_trip.h"

using namespace rangefinder;
using namespace rangefinder::round_trip;

TEST_CASE("the three forms of an exact line keep their own keys") {
  ExactRecord range;
  range.is_counter_range = true;
  range.counter_range = UINT64_MAX;
  range.launches = UINT32_MAX;
  range.kernels = 7;
  range.exclusive = false;
  range.reason = "no pass";
  check_round_trip(range);
  const ExactRecord back = read_as(range);
  CHECK(back.is_counter_range);
  CHECK(back.counter_range == UINT64_MAX);
  CHECK(back.launches == UINT32_MAX);
  CHECK(back.kernels == 7);
  CHECK_FALSE(back.exclusive);
  CHECK(back.reason == "no pass");

  ExactRecord sharing;
  sharing.kind = WorkKind::memset;
  sharing.counter_range = 5;
  sharing.measured = true;  // by the range: its values are not in this line
  sharing.gpu_ns = 9;
  check_round_trip(sharing);
  CHECK(read_as(sharing).counter_range == 5);
  CHECK_FALSE(read_as(sharing).is_counter_range);
  CHECK_FALSE(read_as(sharing).measured);
  CHECK(read_as(sharing).exclusive);

  ExactRecord own;
  own.measured = true;
  CHECK(read_as(own).counter_range == 0);
  CHECK(read_as(own).has_bytes);
}

TEST_CASE("values of a metric set survive bit by bit, missing values are absent") {
  ExactRecord exact;
  exact.measured = true;
  exact.has_bytes = false;
  exact.metric_set = 3;
  exact.values = {0.1, -0.0, 1e300, std::numeric_limits<double>::infinity(), 18446744073709551615.0};
  check_round_trip(exact);
  const ExactRecord back = read_as(exact);
  CHECK_FALSE(back.has_bytes);
  REQUIRE(back.values.size() == 5);
  CHECK(back.values[0] == 0.1);
  CHECK(std::signbit(back.values[1]));
  CHECK(back.values[2] == 1e300);
  CHECK(std::isnan(back.values[3]));
  CHECK(back.values[4] == 18446744073709551615.0);
  exact.has_bytes = true;
  exact.l2_bytes = 4;
  CHECK(read_as(exact).l2_bytes == 4);
  CHECK(read_as(exact).values.size() == 5);
}

TEST_CASE("the end line has truth if there is any") {
  EndRecord end;
  CHECK(example::text_of(end).find("truth") == std::string::npos);
  end.truth = {1, 2, 0};
  check_round_trip(end);
  CHECK(read_as(end).truth.copies == 1);
  CHECK(read_as(end).truth.known_bytes == 2);
  CHECK(read_as(end).truth.measured_bytes == 0);
}

TEST_CASE("samples keep every number, and columns of zeros are omitted") {
  SamplesRecord samples;
  samples.gpu = UINT32_MAX;
  samples.runs = {{kFirst, kLast, 1}, {0, 0, 2}};
  samples.columns[kSampleDramRead] = {UINT32_MAX, 0, 1};
  samples.columns[kSampleDramWrite] = {0, 0, 0};
  samples.idle_samples = UINT64_MAX;
  samples.idle_units[kSampleNvlinkTransmitted] = UINT64_MAX;
  check_round_trip(samples);
  const SamplesRecord back = read_as(samples);
  CHECK(back.gpu == UINT32_MAX);
  REQUIRE(back.runs.size() == 2);
  CHECK(back.runs[0].start_ns == kFirst);
  CHECK(back.runs[0].end_ns == kLast);
  CHECK(back.runs[1].count == 2);
  CHECK(back.columns[kSampleDramRead] == samples.columns[kSampleDramRead]);
  CHECK(back.columns[kSampleDramWrite].empty());
  CHECK(back.idle_samples == UINT64_MAX);
  CHECK(back.idle_units == samples.idle_units);

  // A column that is nearly all 0 lists the other values by index.
  SamplesRecord sparse;
  sparse.runs = {{0, 1000, 100}};
  sparse.columns[kSamplePcieRead].assign(100, 0);
  sparse.columns[kSamplePcieRead][49] = 7;
  sparse.columns[kSamplePcieRead][99] = UINT32_MAX;
  CHECK(example::text_of(sparse).find(R"("pcie_read":{"49":7,"99":4294967295}})") != std::string::npos);
  check_round_trip(sparse);
  CHECK(read_as(sparse).columns[kSamplePcieRead] == sparse.columns[kSamplePcieRead]);

  SamplingRecord sampling{kFirst, UINT32_MAX, UINT32_MAX, {"l2"}, "overflow"};
  check_round_trip(sampling);
  CHECK(read_as(sampling).interval_ns == UINT32_MAX);
  CHECK(read_as(sampling).columns == std::vector<std::string>{"l2"});
}
