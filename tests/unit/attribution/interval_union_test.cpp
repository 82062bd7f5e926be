// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/interval_union.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::uint64_t length_of(const Intervals& intervals) {
  IntervalUnion all;
  for (const auto& [start, end] : intervals) all.add(start, end);
  return all.length();
}

// Reference: sorts all intervals first.
std::uint64_t true_length(Intervals intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::uint64_t total = 0;
  std::int64_t until = INT64_MIN;
  for (const auto& [start, end] : intervals) {
    const std::int64_t from = std::max(start, until);
    if (end > from) total += static_cast<std::uint64_t>(end - from);
    until = std::max(until, end);
  }
  return total;
}

Intervals random_intervals(std::mt19937& random, int count, int step, int longest) {
  Intervals intervals;
  std::int64_t at = 0;
  for (int i = 0; i < count; ++i) {
    at += static_cast<std::int64_t>(random() % static_cast<unsigned>(step));
    intervals.emplace_back(at, at + static_cast<std::int64_t>(random() % static_cast<unsigned>(longest)));
  }
  return intervals;
}

}  // namespace

TEST_CASE("overlapping, nested, touching and equal intervals count once, empty and reversed ones not") {
  CHECK(length_of({}) == 0);
  CHECK(length_of({{0, 10}, {20, 25}}) == 15);
  CHECK(length_of({{0, 10}, {5, 15}}) == 15);
  CHECK(length_of({{0, 100}, {5, 15}, {5, 15}}) == 100);
  CHECK(length_of({{0, 10}, {10, 20}}) == 20);
  CHECK(length_of({{0, 10}, {20, 30}, {40, 50}, {5, 45}}) == 50);
  CHECK(length_of({{5, 5}, {9, 3}, {1, 2}}) == 1);
  CHECK(length_of({{INT64_MIN + 1, INT64_MAX}}) == UINT64_MAX - 1);  // the whole range of time
}

TEST_CASE("any number of intervals in order of their start give the true length") {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    const Intervals intervals = random_intervals(random, 2000, 20, 30);
    REQUIRE(length_of(intervals) == true_length(intervals));
  }
}

TEST_CASE("intervals out of order by up to 15 give the true length") {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    Intervals intervals = random_intervals(random, 1000, 20, 12);
    // Shuffled within blocks of 15: at most 14 intervals come before one that should precede them.
    for (auto it = intervals.begin(); it < intervals.end();) {
      const auto end = it + std::min<std::ptrdiff_t>(15, intervals.end() - it);
      std::shuffle(it, end, random);
      it = end;
    }
    REQUIRE(length_of(intervals) == true_length(intervals));
  }
}

TEST_CASE("in any order the length is never more than the true length") {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    Intervals intervals = random_intervals(random, 500, 20, 30);
    std::shuffle(intervals.begin(), intervals.end(), random);
    const std::uint64_t length = length_of(intervals);
    REQUIRE(length <= true_length(intervals));
    REQUIRE(length > 0);
  }
}
