// SPDX-License-Identifier: Apache-2.0
//
// The text exposition format of Prometheus, version 0.0.4.
//
//   # HELP rangefinder_kernel_seconds_total …
//   # TYPE rangefinder_kernel_seconds_total counter
//   rangefinder_kernel_seconds_total{gpu="0",module="model/decoder"} 0.002400500
//
// Samples of one family are written together. Samples with equal labels are added up, for example two
// processes of one rank. Labels with an empty value are omitted, which means the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rangefinder {

/// Names and values, in output order.
using PrometheusLabels = std::vector<std::pair<std::string_view, std::string>>;

/// The unit of a family's values. They are integers, so that sums are exact.
enum class PrometheusUnit : std::uint8_t { one, nanosecond };

class PrometheusFamily {
 public:
  PrometheusFamily(std::string_view name, std::string_view help, std::string_view type, PrometheusUnit unit)
      : name_(name), help_(help), type_(type), unit_(unit) {}

  void add(const PrometheusLabels& labels, std::uint64_t value);
  /// Sets a gauge instead of adding.
  void set(const PrometheusLabels& labels, std::uint64_t value);
  /// Adds the samples of `other`, of the same family.
  void add(const PrometheusFamily& other);
  /// Takes the maximum of each sample here and in `other`.
  void raise(const PrometheusFamily& other);
  /// Appends nothing if the family has no samples.
  void append(std::string& out) const;

  [[nodiscard]] std::string_view name() const noexcept { return name_; }

 private:
  std::string_view name_, help_, type_;
  PrometheusUnit unit_;
  std::map<std::string, std::uint64_t> samples_;  // by label text
};

}  // namespace rangefinder
