// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/inseparable.h"

#include <vector>

#include "tests/catch.h"
#include "tests/unit/analysis/sampling/made_samples.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace inseparable {

KernelRecord on_stream(std::uint32_t path, TimeNs start_ns, TimeNs end_ns) {
  KernelRecord record = kernel(1, path, start_ns, end_ns);
  record.work.stream = path;
  return record;
}

/// A sample of 1,000 units every 10 us, over `count` samples.
SamplesRecord steady_samples(std::uint32_t count) {
  SamplesRecord samples;
  samples.runs = {{0, TimeNs{10'000} * count, count}};
  for (const auto column : {kSampleDramRead, kSampleDramWrite, kSampleL2})
    samples.columns[column].assign(count, 1'000);
  return samples;
}

struct Span {
  TimeNs start_ns, end_ns;
};

/// model(1) / left(2), model(1) / right(3), model(1) / other(4); the same in each of 50 periods of 200 us.
SampledTotals repeated(const Span& left, const Span& right, const Span& other) {
  std::vector<Line> lines{PathRecord{1, 0, 0, "model"}, PathRecord{2, 1, 0, "left"},
                          PathRecord{3, 1, 0, "right"}, PathRecord{4, 1, 0, "other"}};
  for (TimeNs at = 0; at < 10'000'000; at += 200'000) {
    lines.emplace_back(on_stream(2, at + left.start_ns, at + left.end_ns));
    lines.emplace_back(on_stream(3, at + right.start_ns, at + right.end_ns));
    lines.emplace_back(on_stream(4, at + other.start_ns, at + other.end_ns));
  }
  lines.emplace_back(steady_samples(1'000));
  return sampled_totals(lines);
}

}  // namespace inseparable

using namespace inseparable;

TEST_CASE(
    "a pair that always runs at one time is a group: its sum is certain, a member may be any part of it") {
  const SampledTotals totals = repeated({0, 100'000}, {1'000, 101'000}, {120'000, 180'000});

  REQUIRE(totals.inseparable.size() == 1);
  CHECK(totals.inseparable[0].paths == std::vector<std::uint32_t>{2, 3});
  const BoundedBytes& sum = totals.inseparable[0].sum[kSharedDramRead];
  CHECK(sum.bytes == totals.find(2)->exclusive[0].bytes + totals.find(3)->exclusive[0].bytes);
  CHECK(*sum.error_pct() < 25);
  for (const std::uint32_t path : {2U, 3U}) {
    CHECK(totals.find(path)->inseparable == 1);
    CHECK(totals.find(path)->inclusive[0].error_bytes >= sum.bytes);
  }
  CHECK(totals.find(4)->inseparable == 0);
  // The parent has all of it.
  CHECK(*totals.find(1)->inclusive[0].error_pct() < 25);
}

TEST_CASE("paths that also run alone, or one after the other, are no group") {
  CHECK(repeated({0, 100'000}, {50'000, 150'000}, {150'000, 200'000}).inseparable.empty());
}
