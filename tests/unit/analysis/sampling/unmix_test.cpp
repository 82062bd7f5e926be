// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/unmix.h"

#include <cmath>
#include <random>
#include <vector>

#include "tests/catch.h"
#include "tools/analysis/sampling/non_negative_solver.h"
#include "tools/analysis/sampling/unmix_draw.h"
#include "tools/analysis/sampling/unmix_equations.h"
#include "tools/analysis/sampling/unmix_fit.h"

using namespace rangefinder;

namespace {

RowEntry entry(std::uint32_t group, double head_ns, double tail_ns) {
  RowEntry out;
  out.group = group;
  out.head_ns = head_ns;
  out.tail_ns = tail_ns;
  return out;
}

PriorRates weak_prior(std::size_t rates, double rate) {
  return {std::vector<double>(rates, rate), std::vector<double>(rates, 1e-4)};
}

struct SampleSum {
  std::vector<RowEntry> entries;
  double units;
};

/// The rates of two groups, from `start` on.
std::vector<double> solved(const std::vector<SampleSum>& rows, const PriorRates& prior, double start) {
  NormalEquations equations(2);
  for (const SampleSum& row : rows) equations.add_row(row.entries, row.units, 1);
  std::vector<double> rates(4, start);
  NonNegativeSolver(equations).solve(equations.right_side(), prior, rates);
  return rates;
}

// All groups one after the other, repeatedly, each about `duration_ns` long; `rate[g]` units per ns.
std::vector<SampleBlock> repeating(const std::vector<double>& rate, TimeNs duration_ns, std::size_t samples,
                                   TimeNs lag_ns = 0) {
  constexpr TimeNs kInterval = 20'000;
  std::mt19937_64 random(7);
  const TimeNs until = kInterval * static_cast<TimeNs>(samples);
  std::vector<OrderedWork> work;
  for (TimeNs at = -50'000; at < until + 50'000;) {
    const auto group = static_cast<std::uint32_t>(work.size() % rate.size());
    const TimeNs length = duration_ns + static_cast<TimeNs>(random() % 1'000);
    work.push_back({at, at + length, 0, group});
    at += length;
  }
  std::vector<OrderedSample> all(samples);
  for (std::size_t i = 0; i < samples; ++i) {
    all[i].start_ns = kInterval * static_cast<TimeNs>(i);
    all[i].length_ns = kInterval;
    double units = 0;
    for (const OrderedWork& piece : work) {
      const TimeNs start = std::max(piece.start_ns + lag_ns, all[i].start_ns);
      const TimeNs end = std::min(piece.end_ns + lag_ns, all[i].end_ns());
      if (end > start) units += rate[piece.kind] * static_cast<double>(end - start);
    }
    all[i].units.fill(static_cast<std::uint32_t>(std::lround(units)));
  }
  std::vector<SampleBlock> blocks;
  append_blocks(blocks, {0, all, work});
  return blocks;
}

double mean_rate(const ColumnRates& column, std::uint32_t group) {
  return 0.5 * (column.rates[head_of(group)] + column.rates[tail_of(group)]);
}

}  // namespace

TEST_CASE("the solver finds rates that explain all rows") {
  // 2 * head + 1 * tail of group 0 is 7; tail alone 3; group 1 with both 10.
  const std::vector<double> rates = solved({{{entry(0, 2, 1)}, 7},
                                            {{entry(0, 0, 1)}, 3},
                                            {{entry(0, 1, 0), entry(1, 2, 0)}, 10},
                                            {{entry(1, 0, 4)}, 8}},
                                           weak_prior(4, 1), 1.0);

  CHECK(rates[head_of(0)] == Approx(2).epsilon(0.001));
  CHECK(rates[tail_of(0)] == Approx(3).epsilon(0.001));
  CHECK(rates[head_of(1)] == Approx(4).epsilon(0.001));
  CHECK(rates[tail_of(1)] == Approx(2).epsilon(0.001));
}

TEST_CASE("no rate is below zero") {
  const std::vector<double> rates =
      solved({{{entry(0, 1, 0), entry(1, 1, 0)}, 3}, {{entry(0, 1, 0)}, 5}}, weak_prior(4, 0), 1.0);

  CHECK(rates[head_of(1)] == 0);
  CHECK(rates[head_of(0)] == Approx(4).epsilon(0.001));
}

TEST_CASE("a group without rows keeps its prior rate, one with a row moves from it") {
  PriorRates prior = weak_prior(4, 2);
  prior.precision.assign(4, 1.0);
  const std::vector<double> rates = solved({{{entry(0, 1, 0)}, 10}}, prior, 0.0);

  CHECK(rates[head_of(1)] == Approx(2));
  CHECK(rates[head_of(0)] == Approx(6));
}

TEST_CASE("the table of pairs grows and keeps every sum") {
  constexpr std::uint32_t kGroups = 3'000, kReach = 7;
  NormalEquations equations(kGroups);
  const std::size_t places = equations.pairs().size();
  double rows = 0;
  for (std::uint32_t g = 0; g + kReach < kGroups; ++g) {
    for (std::uint32_t other = g + 1; other <= g + kReach; ++other, ++rows) {
      const std::vector<RowEntry> row{entry(g, 1, 1), entry(other, 1, 1)};
      equations.add_row(row, 4, 1);
    }
  }
  CHECK(equations.pairs().size() > places);
  double sum = 0;
  for (const double own : equations.own()) sum += own;
  for (const NormalEquations::Pair& pair : equations.pairs()) {
    sum += pair.head_head + pair.head_tail + pair.tail_head + pair.tail_tail;
  }
  CHECK(sum == Approx(6 * rows));
  CHECK_FALSE(equations.overfull());
  const std::vector<double> product =
      NonNegativeSolver(equations).times(std::vector<double>(2 * kGroups, 1.0));
  CHECK(product[head_of(1)] == Approx(4 * (kReach + 1)));
}

TEST_CASE("drawn numbers are approximately normal and reproducible") {
  double sum = 0, squares = 0;
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    const double x = drawn_normal(drawn_bits(key));
    sum += x;
    squares += x * x;
  }
  CHECK(std::abs(sum / 100'000) < 0.02);
  CHECK(squares / 100'000 == Approx(1).epsilon(0.02));
  CHECK(drawn_bits(5) == drawn_bits(5));
}

TEST_CASE("blocks hold each sample once, with all work that overlaps it") {
  const std::vector<SampleBlock> blocks = repeating({1, 5}, 30'000, 1'000);
  CHECK(blocks.size() == (1'000 + kBlockSamples - 1) / kBlockSamples);
  std::size_t samples = 0, rows = 0;
  UnmixRows unmix_rows;
  for (const SampleBlock& block : blocks) {
    samples += block.samples.size();
    unmix_rows.run(block, 0, 0, {}, [&](const UnmixRow& row) {
      double ns = 0;
      for (const RowEntry& part : row.entries) ns += part.ns();
      CHECK(ns == Approx(20'000));  // the work has no gaps
      ++rows;
    });
  }
  CHECK(samples == 1'000);
  CHECK(rows == 1'000);
}

TEST_CASE("a part of a launch is divided between head and tail by its place") {
  SampleBlock block;
  OrderedSample sample;
  sample.start_ns = 0;
  sample.length_ns = 10'000;
  block.samples = {sample};
  block.work = {{0, 10'000, 0, 1}, {-30'000, 10'000, 0, 2}};
  std::sort(block.work.begin(), block.work.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  UnmixRows().run(block, 0, 0, {}, [&](const UnmixRow& row) {
    REQUIRE(row.entries.size() == 2);
    CHECK(row.entries[0].group == 2);  // the last quarter
    CHECK(row.entries[0].tail_ns == Approx(8'750));
    CHECK(row.entries[0].head_ns == Approx(1'250));
    CHECK(row.entries[0].cut_at_start);
    CHECK_FALSE(row.entries[0].cut_at_end);
    CHECK(row.entries[1].tail_ns == Approx(5'000));
    CHECK(row.entries[1].head_ns == Approx(5'000));
  });
}

TEST_CASE("rates of groups that always share samples are separated") {
  const std::vector<double> truth{1, 60, 3, 20, 0};
  const std::vector<SampleBlock> blocks = repeating(truth, 6'000, 5'000);
  const UnmixedRates rates = unmix(blocks, std::vector<double>(truth.size()), {});
  for (const ColumnRates& column : rates.columns) {
    REQUIRE(column.unmixed);
    CHECK(*column.held_out_ratio < 0.05);
    for (std::uint32_t g = 0; g < truth.size(); ++g) {
      CHECK(mean_rate(column, g) == Approx(truth[g]).epsilon(0.01).margin(0.05));
    }
  }
}

TEST_CASE("a lag of the bytes is found") {
  const std::vector<double> truth{1, 60, 3, 20, 0};
  const UnmixedRates late = unmix(repeating(truth, 6'000, 5'000, 700), std::vector<double>(truth.size()), {});
  CHECK(std::abs(late.columns[0].lag_ns + 700) <= 130);
  const UnmixedRates early =
      unmix(repeating(truth, 6'000, 5'000, -1'200), std::vector<double>(truth.size()), {});
  CHECK(std::abs(early.columns[0].lag_ns - 1'200) <= 130);
  const UnmixedRates none = unmix(repeating(truth, 6'000, 5'000), std::vector<double>(truth.size()), {});
  CHECK(none.columns[0].lag_ns == 0);
}

TEST_CASE("too few samples, or none, are shared by time") {
  const std::vector<double> truth{1, 60};
  const UnmixedRates few = unmix(repeating(truth, 6'000, 100), std::vector<double>(truth.size()), {});
  CHECK_FALSE(few.columns[0].unmixed);
  CHECK_FALSE(few.columns[0].held_out_ratio);
  CHECK(few.columns[0].rates == std::vector<double>(4, 1.0));

  const UnmixedRates none = unmix({}, std::vector<double>(1), {});
  CHECK_FALSE(none.columns[0].unmixed);
}
