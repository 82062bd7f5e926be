// SPDX-License-Identifier: Apache-2.0
#include "workloads/rtdetr/moments.h"

#include <cmath>

namespace rangefinder::rtdetr {
namespace {

// E[max] and Var[max] of nine values that are half correlated: neighbours in a smooth map. A rough estimate:
// the next batch norm's variance is right within some percent.
constexpr double kMaxPoolShift = 0.6;  // standard deviations

/// Moments of function(X), X normal, by the trapezium rule over +-5 deviations.
template <typename Function>
void transform(double& mean, double& variance, Function&& function) {
  constexpr int kSteps = 100;
  constexpr double kReach = 5;
  const double deviation = std::sqrt(variance);
  double weights = 0;
  double first = 0;
  double second = 0;
  for (int i = 0; i <= kSteps; ++i) {
    const double z = kReach * (2.0 * i / kSteps - 1);
    const double weight = std::exp(-z * z / 2);
    const double value = function(mean + deviation * z);
    weights += weight;
    first += weight * value;
    second += weight * value * value;
  }
  mean = first / weights;
  variance = second / weights - mean * mean;
}

template <typename Function>
Moments transformed(Moments moments, Function&& function) {
  for (std::size_t i = 0; i < moments.mean.size(); ++i)
    transform(moments.mean[i], moments.variance[i], function);
  return moments;
}

}  // namespace

Moments uniform_moments(int channels, double mean, double variance) {
  const auto count = static_cast<std::size_t>(channels);
  return {std::vector<double>(count, mean), std::vector<double>(count, variance)};
}

Moments after_relu(const Moments& input) {
  return transformed(input, [](double v) { return v > 0 ? v : 0; });
}

Moments after_silu(const Moments& input) {
  return transformed(input, [](double v) { return v / (1 + std::exp(-v)); });
}

Moments after_max_pool(const Moments& input) {
  Moments pooled = input;
  for (std::size_t i = 0; i < pooled.mean.size(); ++i)
    pooled.mean[i] += kMaxPoolShift * std::sqrt(pooled.variance[i]);
  return pooled;
}

Moments sum_of(const Moments& first, const Moments& second) {
  Moments sum = first;
  for (std::size_t i = 0; i < sum.mean.size(); ++i) {
    sum.mean[i] += second.mean[i];
    sum.variance[i] += second.variance[i];
  }
  return sum;
}

Moments joined(const Moments& first, const Moments& second) {
  Moments both = first;
  both.mean.insert(both.mean.end(), second.mean.begin(), second.mean.end());
  both.variance.insert(both.variance.end(), second.variance.begin(), second.variance.end());
  return both;
}

}  // namespace rangefinder::rtdetr
