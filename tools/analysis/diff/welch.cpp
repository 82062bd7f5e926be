// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/diff/welch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rangefinder {
namespace {

/// Continued fraction of the incomplete beta function, by Lentz's method (Abramowitz and Stegun, 26.5.8).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kMaxSteps = 300;
  const auto kept = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1, d = 1 / kept(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= kMaxSteps; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept(1 + even * d);
    c = kept(1 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept(1 + odd * d);
    c = kept(1 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1) < 1e-15) break;
  }
  return value;
}

/// Regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast only on one side of the mean.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

void Moments::add(double value) noexcept {
  ++n_;
  const double before = value - mean_;
  mean_ += before / static_cast<double>(n_);
  squares_ += before * (value - mean_);
}

double Moments::variance() const noexcept {
  return n_ < 2 ? 0 : squares_ / static_cast<double>(n_ - 1);
}

Moments trimmed_moments(std::vector<double> values) {
  constexpr std::size_t kTrimmedPart = 8;
  std::sort(values.begin(), values.end());
  const std::size_t cut = values.size() / kTrimmedPart, kept = values.size() - 2 * cut;
  Moments inner, winsorised;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i >= cut && i < cut + kept) inner.add(values[i]);
    winsorised.add(values[std::clamp(i, cut, cut + kept - 1)]);
  }
  return {kept, inner.mean(), winsorised.squares(), 2 * cut};
}

double student_p(double t, double degrees) {
  if (!std::isfinite(t)) return 0;
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double student_t(double p, double degrees) {
  double low = 0, high = 1;
  while (student_p(high, degrees) > p && high < 1e12) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = (low + high) / 2;
    (student_p(middle, degrees) > p ? low : high) = middle;
  }
  return high;
}

std::optional<WelchResult> welch(const Moments& a, const Moments& b) {
  if (a.n() < 2 || b.n() < 2) return {};
  WelchResult out;
  out.difference = b.mean() - a.mean();
  const double n_a = static_cast<double>(a.n()), n_b = static_cast<double>(b.n());
  const double from_a = a.variance() / n_a, from_b = b.variance() / n_b;
  const double error = std::sqrt(from_a + from_b);
  // Sums of the same numbers in another order differ in their last digits; that does not count.
  const double rounding = 1e-12 * std::max(std::abs(a.mean()), std::abs(b.mean()));
  if (error <= rounding) {
    out.p = std::abs(out.difference) <= rounding ? 1 : 0;
    return out;
  }
  const double degrees =
      (from_a + from_b) * (from_a + from_b) / (from_a * from_a / (n_a - 1) + from_b * from_b / (n_b - 1));
  out.p = student_p(out.difference / error, degrees);
  out.half_interval = student_t(0.05, degrees) * error;
  return out;
}

std::vector<bool> holm(const std::vector<double>& p, double alpha) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&p](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  std::vector<bool> out(p.size(), false);
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (p[order[k]] > alpha / static_cast<double>(order.size() - k)) break;
    out[order[k]] = true;
  }
  return out;
}

}  // namespace rangefinder
