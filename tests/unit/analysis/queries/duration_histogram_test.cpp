// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.h"
#include "tools/analysis/queries/duration_histogram.h"

using namespace rangefinder;

namespace {

/// From 1 ns to 1 s, half of them below 1 us.
std::vector<std::uint64_t> durations(std::size_t count) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(0, 9);
  std::vector<std::uint64_t> out;
  while (out.size() < count) out.push_back(static_cast<std::uint64_t>(std::pow(10, exponent(random))));
  return out;
}

DurationHistogram histogram_of(const std::vector<std::uint64_t>& values) {
  DurationHistogram histogram;
  for (const std::uint64_t ns : values) histogram.add(ns);
  return histogram;
}

std::uint64_t ranked(std::vector<std::uint64_t> values, double part) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

}  // namespace

TEST_CASE("an empty histogram has no quantiles and no mean") {
  const DurationHistogram none;

  CHECK(none.count() == 0);
  CHECK(none.quantile_ns(0.5) == 0);
  CHECK(none.mean_ns() == 0);
}

TEST_CASE("every quantile is within one percent of the sorted durations'") {
  const std::vector<std::uint64_t> values = durations(20'000);
  const DurationHistogram histogram = histogram_of(values);

  for (const double part : {0.0, 0.01, 0.25, 0.5, 0.75, 0.95, 0.999, 1.0}) {
    CAPTURE(part);
    CHECK(static_cast<double>(histogram.quantile_ns(part)) ==
          Approx(static_cast<double>(ranked(values, part))).epsilon(0.01));
  }
}

TEST_CASE("durations below 128 ns are exact") {
  DurationHistogram histogram;
  for (std::uint64_t ns = 0; ns < 128; ++ns) histogram.add(ns);

  for (std::uint64_t ns = 0; ns < 128; ++ns) {
    CHECK(histogram.quantile_ns(static_cast<double>(ns + 1) / 128) == ns);
  }
}

TEST_CASE("the median of two is the lower one, by nearest rank") {
  const DurationHistogram histogram = histogram_of({100, 10});

  CHECK(histogram.quantile_ns(0.5) == 10);
  CHECK(histogram.quantile_ns(0.51) == 100);
}

TEST_CASE("count, total, mean, minimum and maximum are exact") {
  const DurationHistogram histogram = histogram_of({1'000'003, 17, 5'000});

  CHECK(histogram.count() == 3);
  CHECK(histogram.total_ns() == 1'005'020);
  CHECK(histogram.mean_ns() == Approx(335'006.667));
  CHECK(histogram.min_ns() == 17);
  CHECK(histogram.max_ns() == 1'000'003);
}

TEST_CASE("adding two histograms equals adding all durations to one") {
  const std::vector<std::uint64_t> values = durations(1'000);
  const DurationHistogram all = histogram_of(values);
  DurationHistogram even, odd;
  for (std::size_t i = 0; i < values.size(); ++i) (i % 2 == 0 ? even : odd).add(values[i]);

  even.add(odd);
  even.add(DurationHistogram());

  CHECK(even.count() == all.count());
  CHECK(even.total_ns() == all.total_ns());
  CHECK(even.min_ns() == all.min_ns());
  CHECK(even.max_ns() == all.max_ns());
  for (const double part : {0.1, 0.5, 0.95}) CHECK(even.quantile_ns(part) == all.quantile_ns(part));
}

TEST_CASE("the longest duration that fits does not overflow anything") {
  const DurationHistogram histogram = histogram_of({UINT64_MAX, UINT64_MAX, 0});

  CHECK(histogram.total_ns() == UINT64_MAX);
  CHECK(histogram.quantile_ns(0.3) == 0);
  CHECK(histogram.quantile_ns(1) == UINT64_MAX);
}
