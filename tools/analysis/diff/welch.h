// SPDX-License-Identifier: Apache-2.0
//
// Welch's t-test: do two sets of measurements differ in their means? The variances need not be equal.
//
//   t = (mean_b - mean_a) / sqrt(var_a/n_a + var_b/n_b), degrees of freedom by Welch and Satterthwaite
//   (B. L. Welch, "The generalization of Student's problem…", Biometrika 34, 1947)
//
// Pure functions. Many rows tested together need a stricter limit: holm().
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace rangefinder {

/// Running mean and variance (Welford).
class Moments {
 public:
  Moments() = default;
  /// As they were: `squares` is the sum of the squared differences from the mean.
  Moments(std::size_t n, double mean, double squares, std::size_t trimmed) noexcept
      : n_(n), trimmed_(trimmed), mean_(mean), squares_(squares) {}
  void add(double value) noexcept;
  [[nodiscard]] std::size_t n() const noexcept { return n_; }
  /// Values beyond n() that trimmed() took out of the mean.
  [[nodiscard]] std::size_t trimmed() const noexcept { return trimmed_; }
  [[nodiscard]] double mean() const noexcept { return mean_; }
  [[nodiscard]] double squares() const noexcept { return squares_; }
  /// Sample variance, divided by n - 1; 0 for fewer than two values.
  [[nodiscard]] double variance() const noexcept;

 private:
  std::size_t n_ = 0, trimmed_ = 0;
  double mean_ = 0, squares_ = 0;
};

/// Neighbouring iterations or calls are correlated: they are tested in at most this many batches.
inline constexpr std::size_t kMaxBatches = 32;

/// Without the highest and the lowest eighth, so that a single outlier in eight values does not hide a
/// change. The variance is such that welch() is Yuen's test, and its limits hold (K. K. Yuen, "The two-sample
/// trimmed t for unequal population variances", Biometrika 61, 1974).
[[nodiscard]] Moments trimmed_moments(std::vector<double> values);

struct WelchResult {
  double difference = 0;     ///< mean of b minus mean of a
  double half_interval = 0;  ///< half the 95 % confidence interval of the difference
  double p = 1;              ///< probability of a difference this large if the means are equal
};

/// Empty for fewer than two values on a side. If neither side has any spread, p is 0 or 1.
[[nodiscard]] std::optional<WelchResult> welch(const Moments& a, const Moments& b);

/// sqrt(a^2 + b^2): the error of a sum of independent values with these errors. Not std::hypot, whose symbol
/// is newer than the C library that packages are for.
[[nodiscard]] inline double root_sum_square(double a, double b) noexcept {
  return std::sqrt(a * a + b * b);
}

/// Student's t: probability of |t| or more, both tails. `degrees` > 0, need not be an integer.
[[nodiscard]] double student_p(double t, double degrees);
/// The |t| that is exceeded with probability `p`, both tails; 0 < p < 1.
[[nodiscard]] double student_t(double p, double degrees);

/// Holm's step-down correction: which tests are significant together, so that the probability of one or more
/// false results is at most `alpha`.
[[nodiscard]] std::vector<bool> holm(const std::vector<double>& p, double alpha);

}  // namespace rangefinder
