// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/named_values.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

namespace rangefinder {
namespace {

class Evaluation {
 public:
  Evaluation(const MetricsByName& metrics, const Derived& derived, std::uint64_t missing_sets,
             NamedValues::Partial partial)
      : metrics_(metrics), derived_(derived), missing_sets_(missing_sets), partial_(partial) {}

  [[nodiscard]] std::optional<NamedValue> of(const NamedMetric& metric) {
    out_ = {&metric, 0, UINT64_MAX, nullptr};
    used_sets_ = 0;
    const std::optional<double> value = value_of(metric);
    if (!value || !std::isfinite(*value)) return std::nullopt;
    const bool mixes_sets = metric.form == MetricForm::ratio && std::popcount(used_sets_) > 1;
    if ((metric.form == MetricForm::sum || mixes_sets) && (used_sets_ & missing_sets_) != 0)
      return std::nullopt;
    out_.value = metric.unit == std::string_view("%") ? std::min(*value, 100.0) : *value;
    if (out_.launches == UINT64_MAX) out_.launches = 0;
    return out_;
  }

 private:
  std::optional<double> value_of(const NamedMetric& metric) {
    switch (metric.form) {
      case MetricForm::first:
        return first(metric);
      case MetricForm::sum:
        return scaled(metric.factor, sum(metric.inputs));
      case MetricForm::ratio: {
        const auto over = sum(metric.inputs), under = sum(metric.under);
        if (!over || !under || *under == 0) return std::nullopt;
        return metric.factor * *over / *under;
      }
      case MetricForm::peak_share:
        return largest_peak_share(metric.inputs);
      case MetricForm::flop:
        return metric.unit == std::string_view("FLOP/s") ? derived_.flop_per_s : derived_.flop_per_dram_byte;
    }
    return std::nullopt;
  }

  static std::optional<double> scaled(double factor, std::optional<double> value) {
    return value ? std::optional(factor * *value) : std::nullopt;
  }

  const MetricValue* find(std::string_view name) {
    const MetricValue* const found = metrics_.find(name);
    if (found == nullptr) return nullptr;
    const std::uint64_t set = std::uint64_t{1} << found->set;
    if ((missing_sets_ & set) != 0 && partial_ == NamedValues::Partial::unused) return nullptr;
    used_sets_ |= set;
    out_.launches = std::min(out_.launches, found->launches.n);
    return found;
  }

  std::optional<double> first(const NamedMetric& metric) {
    for (const MetricInput& input : metric.inputs) {
      if (const MetricValue* const found = find(input.name)) return metric.factor * found->value;
    }
    return std::nullopt;
  }

  /// Absent if an input is missing that the chip has.
  std::optional<double> sum(std::span<const MetricInput> inputs) {
    double total = 0;
    for (const MetricInput& input : inputs) {
      if (const MetricValue* const found = find(input.name)) {
        total += found->value;
      } else if (!input.optional || metrics_.planned(input.name)) {
        return std::nullopt;
      }
    }
    return total;
  }

  std::optional<double> largest_peak_share(std::span<const MetricInput> parts) {
    std::optional<double> largest;
    for (const MetricInput& part : parts) {
      const std::string counter = std::string(part.name) + ".sum";
      const MetricValue* const count = find(counter);
      const MetricValue* const rate = find(std::string(part.name) + std::string(kPeakRate));
      if (count == nullptr || rate == nullptr) {
        if (!part.optional || metrics_.planned(counter)) return std::nullopt;
        continue;
      }
      if (rate->value <= 0 || count->gpu_ns <= 0) return std::nullopt;
      const double share = 100 * count->value / (rate->value * count->gpu_ns * 1e-9);
      if (largest && share <= *largest) continue;
      largest = share;
      out_.part = &part;
    }
    return largest;
  }

  const MetricsByName& metrics_;
  const Derived& derived_;
  const std::uint64_t missing_sets_;
  const NamedValues::Partial partial_;
  std::uint64_t used_sets_ = 0;  // of the metric in work
  NamedValue out_;
};

}  // namespace

NamedValues::NamedValues(const MetricsByName& metrics, const Derived& derived, std::uint64_t missing_sets,
                         Partial partial) {
  if (metrics.all().empty()) return;
  Evaluation evaluation(metrics, derived, missing_sets, partial);
  for (const NamedMetric& metric : named_metrics()) {
    if (const auto value = evaluation.of(metric)) values_.push_back(*value);
  }
}

const NamedValue* NamedValues::find(std::string_view name) const noexcept {
  const auto at = std::find_if(values_.begin(), values_.end(),
                               [name](const NamedValue& value) { return value.metric->name == name; });
  return at == values_.end() ? nullptr : &*at;
}

std::optional<double> NamedValues::value(std::string_view name) const noexcept {
  const NamedValue* const found = find(name);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

std::vector<NamedValue> NamedValues::stalls() const {
  std::vector<NamedValue> out;
  for (const NamedValue& value : values_) {
    if (value.metric->topic == MetricTopic::stalls &&
        value.metric->name != std::string_view("stall_selected"))
      out.push_back(value);
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
  return out;
}

}  // namespace rangefinder
