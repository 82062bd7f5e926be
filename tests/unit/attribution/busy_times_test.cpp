// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/busy_times.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "profiler/attribution/path_totals.h"
#include "tests/catch.h"
#include "tests/unit/attribution/totals_records.h"

using namespace rangefinder;

namespace {

using Intervals = std::vector<std::pair<std::int64_t, std::int64_t>>;

std::uint64_t busy_ns(const Intervals& intervals) {
  BusyTimes busy;
  for (const auto& [start, end] : intervals) busy.add(0, start, end);
  return busy.lengths(1)[0];
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
  CHECK(busy_ns({}) == 0);
  CHECK(busy_ns({{0, 10}, {20, 25}}) == 15);
  CHECK(busy_ns({{0, 10}, {5, 15}}) == 15);
  CHECK(busy_ns({{0, 100}, {5, 15}, {5, 15}}) == 100);
  CHECK(busy_ns({{0, 10}, {10, 20}}) == 20);
  CHECK(busy_ns({{0, 10}, {20, 30}, {40, 50}, {5, 45}}) == 50);
  CHECK(busy_ns({{5, 5}, {9, 3}, {1, 2}}) == 1);
  CHECK(busy_ns({{INT64_MIN + 1, INT64_MAX}}) == UINT64_MAX - 1);  // the whole range of time
}

TEST_CASE("intervals in any order give the true length") {
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    Intervals intervals = random_intervals(random, 1 + static_cast<int>(random() % 500), 20, 30);
    std::shuffle(intervals.begin(), intervals.end(), random);
    REQUIRE(busy_ns(intervals) == true_length(intervals));
  }
}

TEST_CASE("more intervals than are kept give the true length if none is 65,536 places late") {
  std::mt19937 random(3);
  Intervals intervals = random_intervals(random, 400'000, 20, 12);
  for (auto it = intervals.begin(); it < intervals.end();) {
    const auto end = it + std::min<std::ptrdiff_t>(60'000, intervals.end() - it);
    std::shuffle(it, end, random);
    it = end;
  }
  CHECK(busy_ns(intervals) == true_length(intervals));
}

TEST_CASE("an interval that comes later than that never makes the length too long") {
  std::mt19937 random(4);
  Intervals intervals = random_intervals(random, 300'000, 20, 30);
  std::shuffle(intervals.begin(), intervals.end(), random);
  CHECK(busy_ns(intervals) <= true_length(intervals));
}

TEST_CASE("each key has its own time, and lengths may be asked for at any time") {
  BusyTimes busy;
  busy.add(2, 50, 60);
  busy.add(0, 0, 10);
  CHECK(busy.lengths(3) == std::vector<std::uint64_t>{10, 0, 10});
  busy.add(2, 40, 55);
  CHECK(busy.lengths(3) == std::vector<std::uint64_t>{10, 0, 20});
  CHECK(busy.lengths(1) == std::vector<std::uint64_t>{10});
}

// As in training with PyTorch: backward runs on a thread of its own, and CUPTI returns a buffer for each
// thread.
TEST_CASE("two threads whose records come a buffer at a time keep the GPU busy all the time") {
  constexpr int kPerBuffer = 5'000, kBuffers = 6;
  TotalsBuilder totals;
  totals.add_path({1, 0, 0, "step"});
  totals.add_path({2, 1, 0, "forward"});
  totals.add_path({3, 1, 0, "backward"});
  std::vector<KernelRecord> of_thread[2];
  for (std::int64_t i = 0; i < 2 * kPerBuffer * kBuffers; ++i)
    of_thread[i % 2].push_back(
        totals_records::kernel(static_cast<std::uint32_t>(2 + i % 2), i * 10, i * 10 + 10));
  for (int buffer = 0; buffer < kBuffers; ++buffer) {
    for (const auto& records : of_thread) {
      for (int i = 0; i < kPerBuffer; ++i)
        totals.add(records[static_cast<std::size_t>(buffer * kPerBuffer + i)]);
    }
  }
  constexpr std::uint64_t kAll = 20ULL * kPerBuffer * kBuffers;
  CHECK(totals.gpu_busy_ns() == kAll);
  const std::vector<PathTotals> rows = totals.paths();
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].gpu_busy_ns == kAll);
  CHECK(rows[1].gpu_busy_ns == kAll / 2);
  CHECK(rows[2].gpu_busy_ns == kAll / 2);
}
