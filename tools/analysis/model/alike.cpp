// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/alike.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace rangefinder {
namespace {

constexpr double kMaxCountDifference = 0.1;
constexpr double kMinShared = 0.5;

struct Sums {
  double count = 0, ns = 0;
  std::unordered_map<std::uint32_t, double> by_what;
};

}  // namespace

bool are_alike(const std::vector<IterationWork>& works, std::size_t iterations) {
  if (works.empty()) return true;
  std::vector<Sums> sums(iterations);
  for (const IterationWork& work : works) {
    Sums& of = sums[work.iteration];
    const auto ns = static_cast<double>(std::max<std::uint64_t>(1, work.ns));
    ++of.count;
    of.ns += ns;
    of.by_what[work.what] += ns;
  }
  std::vector<double> counts;
  std::unordered_map<std::uint32_t, double> mean;  // share of an iteration's time, summed
  for (const Sums& of : sums) {
    counts.push_back(of.count);
    for (const auto& [what, ns] : of.by_what) mean[what] += ns / of.ns;
  }
  const auto middle = counts.begin() + static_cast<std::ptrdiff_t>(iterations / 2);
  std::nth_element(counts.begin(), middle, counts.end());
  const double median = *middle, each = 1.0 / static_cast<double>(iterations);
  const auto alike = [&](const Sums& of) {
    if (of.count == 0 || std::abs(of.count - median) > kMaxCountDifference * median) return false;
    double shared = 0;
    for (const auto& [what, ns] : of.by_what) shared += std::min(ns / of.ns, mean[what] * each);
    return shared >= kMinShared;
  };
  return 2 * static_cast<std::size_t>(std::count_if(sums.begin(), sums.end(), alike)) > iterations;
}

}  // namespace rangefinder
