// SPDX-License-Identifier: Apache-2.0
//
// Do two sets of measurements differ in their means? Welch's t-test: the variances need not be equal.
//
//   t = (mean_b - mean_a) / sqrt(var_a/n_a + var_b/n_b), degrees of freedom by Welch and Satterthwaite
//   (B. L. Welch, "The generalization of Student's problem…", Biometrika 34, 1947)
//
// Pure. Many rows tested at once need a stricter limit: holm().
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace rangefinder {

/// Mean and spread of values that come one by one (Welford).
class Moments {
 public:
  void add(double value) noexcept;
  [[nodiscard]] std::size_t n() const noexcept { return n_; }
  [[nodiscard]] double mean() const noexcept { return mean_; }
  /// Of the sample, n - 1 below; 0 for fewer than two values.
  [[nodiscard]] double variance() const noexcept;

 private:
  std::size_t n_ = 0;
  double mean_ = 0, squares_ = 0;
};

struct WelchResult {
  double difference = 0;     ///< mean of b less mean of a
  double half_interval = 0;  ///< of the 95 % interval of the difference
  double p = 1;              ///< of a difference this large or larger where there is none
};

/// Nothing for fewer than two values on a side. Two sides without any spread: p is 0 or 1.
[[nodiscard]] std::optional<WelchResult> welch(const Moments& a, const Moments& b);

/// Student's t: probability of |t| or more, both tails. `degrees` > 0, need not be whole.
[[nodiscard]] double student_p(double t, double degrees);
/// The |t| that only `p` of all exceed, both tails; 0 < p < 1.
[[nodiscard]] double student_t(double p, double degrees);

/// Holm's step-down: which of these tests may be believed together, so that the chance of even one
/// false one is at most `alpha`.
[[nodiscard]] std::vector<bool> holm(const std::vector<double>& p, double alpha);

}  // namespace rangefinder
