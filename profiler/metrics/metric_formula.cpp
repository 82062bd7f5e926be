// SPDX-License-Identifier: Apache-2.0
#include "profiler/metrics/metric_formula.h"

#include <algorithm>

namespace rangefinder {
namespace {

using enum MetricForm;

std::string sum_text(std::span<const MetricInput> inputs) {
  std::string out;
  for (const MetricInput& input : inputs) out += (out.empty() ? "" : " + ") + std::string(input.name);
  return inputs.size() < 2 ? out : "(" + out + ")";
}

std::string factor_text(double factor) {
  return factor == 1 ? "" : std::to_string(static_cast<int>(factor)) + " * ";
}

}  // namespace

std::vector<std::string> collected_for(const NamedMetric& metric) {
  std::vector<std::string> out;
  const auto take = [&out](std::string name) {
    if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(std::move(name));
  };
  for (const MetricInput& input : metric.inputs) {
    if (metric.form != peak_share) {
      take(input.name);
      continue;
    }
    take(std::string(input.name) + ".sum");
    take(std::string(input.name) + std::string(kPeakRate));
  }
  for (const MetricInput& input : metric.under) take(input.name);
  return out;
}

std::string formula_text(const NamedMetric& metric) {
  switch (metric.form) {
    case first: {
      std::string out;
      for (const MetricInput& input : metric.inputs)
        out += (out.empty() ? "" : ", or ") + std::string(input.name);
      return out;
    }
    case sum:
      return factor_text(metric.factor) + sum_text(metric.inputs);
    case ratio:
      return factor_text(metric.factor) + sum_text(metric.inputs) + " / " + sum_text(metric.under);
    case peak_share: {
      std::string parts;
      for (const MetricInput& input : metric.inputs)
        parts += (parts.empty() ? "" : ", ") + std::string(input.name);
      const std::string share = "100 * x.sum / (x" + std::string(kPeakRate) + " * GPU time)";
      return metric.inputs.size() == 1 ? share + " for x = " + parts
                                       : "largest " + share + " for x of " + parts;
    }
    case flop:
      break;
  }
  return "operations of the set roofline over " +
         std::string(std::string_view(metric.unit) == "FLOP/s" ? "GPU time" : "DRAM bytes");
}

}  // namespace rangefinder
