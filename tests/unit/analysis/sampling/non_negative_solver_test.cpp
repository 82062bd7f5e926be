// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/non_negative_solver.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/catch.h"
#include "tools/analysis/sampling/unmix_draw.h"

namespace rangefinder {
namespace {

double drawn_part(std::uint64_t key) {
  return static_cast<double>(drawn_bits(key) >> 11) / static_cast<double>(std::uint64_t{1} << 53);
}

/// Samples of a program that repeats `groups` kernels in one order; every seventh runs beside group 0.
NormalEquations made_equations(std::uint32_t groups, std::uint64_t seed, const std::vector<double>& rates) {
  NormalEquations equations(groups);
  for (std::uint64_t row = 0; row < 40 * std::uint64_t{groups}; ++row) {
    std::vector<RowEntry> entries;
    const std::uint64_t key = seed << 40 | row << 8;
    const auto first = static_cast<std::uint32_t>(drawn_bits(key) % groups);
    for (std::uint32_t i = 0; i < 4; ++i) {
      RowEntry entry;
      entry.group = i == 3 ? 0 : (first + i) % groups;
      if (i != 0 && (entry.group == first || (i == 3 && first % 7 != 0))) continue;
      if (i == 3 &&
          std::any_of(entries.begin(), entries.end(), [](const RowEntry& e) { return e.group == 0; }))
        continue;
      entry.head_ns = 100 * drawn_part(key + 2 * i + 1);
      entry.tail_ns = 100 * drawn_part(key + 2 * i + 2);
      entries.push_back(entry);
    }
    double units = 20 * drawn_normal(drawn_bits(key + 100));
    for (const RowEntry& entry : entries) units += entry.units(rates);
    equations.add_row(entries, units, 1.0);
  }
  return equations;
}

/// Every third rate is 0, so that the samples' noise would make many negative.
std::vector<double> made_rates(std::uint32_t groups, std::uint64_t seed) {
  std::vector<double> rates(2 * std::size_t{groups});
  for (std::size_t i = 0; i < rates.size(); ++i) rates[i] = i % 3 == 0 ? 0 : 10 * drawn_part(seed + i);
  return rates;
}

/// Half the derivative of what solve() minimises.
std::vector<double> slopes_of(const NormalEquations& equations, const PriorRates& prior,
                              const std::vector<double>& rates) {
  std::vector<double> slopes = NonNegativeSolver(equations).times(rates);
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    slopes[i] += prior.precision[i] * (rates[i] - prior.rate[i]) - equations.right_side()[i];
  }
  return slopes;
}

}  // namespace

TEST_CASE("The rates are the least squares among those that are not negative", "[sampling]") {
  for (const std::uint32_t groups : {1U, 2U, 9U, 300U, 3'000U}) {
    const std::vector<double> truth = made_rates(groups, groups);
    const NormalEquations equations = made_equations(groups, groups, truth);
    const PriorRates prior{std::vector<double>(truth.size(), 5.0), std::vector<double>(truth.size(), 0.04)};
    std::vector<double> rates = prior.rate;
    NonNegativeSolver(equations).solve(equations.right_side(), prior, rates);
    const std::vector<double> slopes = slopes_of(equations, prior, rates);
    std::size_t zero = 0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      // A step along one coordinate, in the prior's deviations: 5.
      const double step = slopes[i] / (equations.diagonal()[i] + prior.precision[i]) / 5;
      REQUIRE(rates[i] >= 0);
      if (rates[i] == 0) {
        ++zero;
        CHECK(step > -NonNegativeSolver::kSettled);
      } else {
        CHECK(std::abs(step) < NonNegativeSolver::kSettled);
      }
    }
    if (groups >= 300) CHECK(zero > rates.size() / 10);
  }
}

TEST_CASE("The rates do not depend on where the solution starts", "[sampling]") {
  const std::vector<double> truth = made_rates(500, 7);
  const NormalEquations equations = made_equations(500, 7, truth);
  const PriorRates prior{std::vector<double>(truth.size(), 5.0), std::vector<double>(truth.size(), 0.04)};
  const NonNegativeSolver solver(equations);
  std::vector<double> from_prior = prior.rate, from_truth = truth;
  solver.solve(equations.right_side(), prior, from_prior);
  solver.solve(equations.right_side(), prior, from_truth);
  for (std::size_t i = 0; i < truth.size(); ++i) CHECK(std::abs(from_prior[i] - from_truth[i]) < 0.05);
}

TEST_CASE("The product of the matrix and rates counts each pair of rates twice", "[sampling]") {
  NormalEquations equations(2);
  RowEntry a, b;
  a.head_ns = 1, a.tail_ns = 2;
  b.group = 1, b.head_ns = 3, b.tail_ns = 5;
  const std::vector<RowEntry> row{b, a};
  equations.add_row(row, 7, 0.5);
  // The row (1 2 3 5) times itself, weighted by 0.5, times (1 10 100 1000): its product with the rates is
  // 5321.
  const std::vector<double> product =
      NonNegativeSolver(equations).times(std::vector<double>{1, 10, 100, 1000});
  CHECK(product == std::vector<double>{0.5 * 5321, 5321, 1.5 * 5321, 2.5 * 5321});
}

}  // namespace rangefinder
