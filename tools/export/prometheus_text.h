// SPDX-License-Identifier: Apache-2.0
//
// The text exposition format of Prometheus, version 0.0.4.
//
//   # HELP rangefinder_kernel_seconds_total …
//   # TYPE rangefinder_kernel_seconds_total counter
//   rangefinder_kernel_seconds_total{gpu="0",module="model/decoder"} 0.002400500
//
// Samples of one family stand together, and no two have the same labels: those that would are added
// up, as for two processes of one rank. Labels without a value are left out, which means the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rangefinder {

/// Name and value, in the order they are to stand in.
using PrometheusLabels = std::vector<std::pair<std::string_view, std::string>>;

/// The decimal point of a family's values, which are counted as integers: sums stay exact.
enum class PrometheusUnit : std::uint8_t { one, nanosecond };

class PrometheusFamily {
 public:
  PrometheusFamily(std::string_view name, std::string_view help, std::string_view type, PrometheusUnit unit)
      : name_(name), help_(help), type_(type), unit_(unit) {}

  void add(const PrometheusLabels& labels, std::uint64_t value);
  /// A gauge that is not to be added up.
  void set(const PrometheusLabels& labels, std::uint64_t value);
  /// Adds the samples of `other`, of the same family.
  void add(const PrometheusFamily& other);
  /// Samples of `other` that are higher, or new here.
  void raise(const PrometheusFamily& other);
  /// Nothing for a family without samples.
  void append(std::string& out) const;

  [[nodiscard]] std::string_view name() const noexcept { return name_; }

 private:
  std::string_view name_, help_, type_;
  PrometheusUnit unit_;
  std::map<std::string, std::uint64_t> samples_;  // by labels as text
};

}  // namespace rangefinder
