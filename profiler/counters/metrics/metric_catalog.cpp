// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/metric_catalog.h"

#include <algorithm>

namespace rangefinder {
namespace {

constexpr CUpti_MetricType kTypes[] = {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO,
                                       CUPTI_METRIC_TYPE_THROUGHPUT};

/// CUPTI's parameter blocks, zeroed except for their size.
template <typename Params>
Params params_of(std::size_t struct_size) noexcept {
  Params params{};
  params.structSize = struct_size;
  return params;
}
#define PARAMS(name) \
  params_of<CUpti_Profiler_Host_##name##_Params>(CUpti_Profiler_Host_##name##_Params_STRUCT_SIZE)

}  // namespace

CUptiResult supported_chips(const CuptiFunctions& cupti, std::vector<std::string>& chips) {
  auto params = PARAMS(GetSupportedChips);
  const CUptiResult result = cupti.ProfilerHostGetSupportedChips(&params);
  if (result == CUPTI_SUCCESS) chips.assign(params.ppChipNames, params.ppChipNames + params.numChips);
  return result;
}

CUptiResult MetricCatalog::open(const std::string& chip, std::span<const std::uint8_t> availability) {
  auto params = PARAMS(Initialize);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  const CUptiResult result = cupti_.ProfilerHostInitialize(&params);
  if (result == CUPTI_SUCCESS) host_ = params.pHostObject;
  return result;
}

MetricCatalog::~MetricCatalog() {
  if (host_ == nullptr) return;
  auto params = PARAMS(Deinitialize);
  params.pHostObject = host_;
  cupti_.ProfilerHostDeinitialize(&params);
}

bool MetricCatalog::describe(const std::string& metric, MetricInfo& info) const {
  auto params = PARAMS(GetMetricProperties);
  params.pHostObject = host_;
  params.pMetricName = metric.c_str();
  if (cupti_.ProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) return false;
  info.unit = params.pDimUnit == nullptr ? "" : params.pDimUnit;
  info.description = params.pDescription == nullptr ? "" : params.pDescription;
  return true;
}

std::vector<std::string> MetricCatalog::base_metrics(std::string_view pattern) const {
  std::vector<std::string> names;
  for (const CUpti_MetricType type : kTypes) {
    auto params = PARAMS(GetBaseMetrics);
    params.pHostObject = host_;
    params.metricType = type;
    if (cupti_.ProfilerHostGetBaseMetrics(&params) != CUPTI_SUCCESS) continue;
    for (std::size_t i = 0; i < params.numMetrics; ++i) {
      const std::string_view name = params.ppMetricNames[i];
      if (name.find(pattern) != std::string_view::npos) names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> MetricCatalog::suffixes(const std::string& base_metric) const {
  for (const CUpti_MetricType type : kTypes) {  // CUPTI refuses a name of another type
    auto params = PARAMS(GetSubMetrics);
    params.pHostObject = host_;
    params.pMetricName = base_metric.c_str();
    params.metricType = type;
    if (cupti_.ProfilerHostGetSubMetrics(&params) == CUPTI_SUCCESS && params.numOfSubmetrics != 0)
      return {params.ppSubMetrics, params.ppSubMetrics + params.numOfSubmetrics};
  }
  return {};
}

}  // namespace rangefinder
