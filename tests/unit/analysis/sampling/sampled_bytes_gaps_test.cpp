// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_source.h"

#include <initializer_list>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

constexpr TimeNs kInterval = 20'000;

/// A samples line with runs [from, to) of sample numbers and `idle` idle samples.
SamplesRecord line(std::initializer_list<std::pair<TimeNs, TimeNs>> runs, std::uint64_t idle,
                   std::uint32_t gpu = 0) {
  SamplesRecord record;
  record.gpu = gpu;
  record.idle_samples = idle;
  for (const auto& [from, to] : runs)
    record.runs.push_back({from * kInterval, to * kInterval, static_cast<std::uint32_t>(to - from)});
  return record;
}

}  // namespace

TEST_CASE("consecutive samples, and gaps that idle samples explain, have no loss") {
  SampleGaps gaps;
  gaps.add(line({{0, 10}, {10, 20}}, 0));
  gaps.add(line({{30, 40}, {45, 50}}, 15));
  gaps.add(line({}, 100));
  gaps.add(line({{160, 170}}, 10));
  CHECK(gaps.none());
  CHECK(gaps.lost_ns(0, 0, 200 * kInterval) == 0);
}

TEST_CASE("work in any gap of a line with too few idle samples was lost") {
  SampleGaps gaps;
  gaps.add(line({{0, 10}}, 0));
  gaps.add(line({{20, 30}, {60, 70}}, 5));
  gaps.add(line({{80, 90}}, 10));
  CHECK_FALSE(gaps.none());
  CHECK(gaps.lost_ns(0, 5 * kInterval, 15 * kInterval) == 5 * kInterval);
  CHECK(gaps.lost_ns(0, 0, 100 * kInterval) == 40 * kInterval);
  CHECK(gaps.lost_ns(0, 32 * kInterval, 33 * kInterval) == kInterval);
  CHECK(gaps.lost_ns(0, 60 * kInterval, 100 * kInterval) == 0);
  CHECK(gaps.lost_ns(1, 0, 100 * kInterval) == 0);
}

TEST_CASE("a small change of the interval is no loss") {
  SampleGaps gaps;
  gaps.add(line({{0, 10}}, 0));
  gaps.add(line({{1'010, 1'020}}, 995));
  CHECK(gaps.none());
}

TEST_CASE("each GPU has its own gaps") {
  SampleGaps gaps;
  gaps.add(line({{0, 10}}, 0, 0));
  gaps.add(line({{50, 60}}, 0, 1));
  gaps.add(line({{20, 30}}, 0, 0));
  CHECK(gaps.lost_ns(0, 0, 100 * kInterval) == 10 * kInterval);
  CHECK(gaps.lost_ns(1, 0, 100 * kInterval) == 0);
}

TEST_CASE("impossible times do not overflow, and runs that go back count no gap twice") {
  constexpr TimeNs kFar = TimeNs{1} << 62;
  SampleGaps gaps;
  SamplesRecord far;
  far.runs = {{-kFar, kFar, 1}, {kFar, kFar, 1}, {-kFar, -kFar, 1}, {kFar, kFar, 1}};
  far.idle_samples = UINT64_MAX;
  gaps.add(far);
  gaps.add(far);
  CHECK(gaps.lost_ns(0, -kFar, kFar) == 0);

  SampleGaps back;
  back.add(line({{0, 10}, {20, 30}, {0, 10}, {20, 30}}, 0));
  CHECK(back.lost_ns(0, 0, 100 * kInterval) == 10 * kInterval);
}

TEST_CASE("before the first sample nothing was lost") {
  SampleGaps gaps;
  gaps.add(line({{1'000, 1'010}}, 0));
  CHECK(gaps.none());
}
