// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/metrics/metric_config.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {

MetricConfig::~MetricConfig() {
  if (host_ == nullptr) return;
  CUpti_Profiler_Host_Deinitialize_Params params{CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE, nullptr,
                                                 host_};
  cupti_.ProfilerHostDeinitialize(&params);
}

CUptiResult MetricConfig::build(const std::string& chip, std::span<const std::uint8_t> availability,
                                std::span<const char* const> metrics, CUpti_ProfilerType type) {
  metrics_.assign(metrics.begin(), metrics.end());

  CUpti_Profiler_Host_Initialize_Params init{};
  init.structSize = CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE;
  init.profilerType = type;
  init.pChipName = chip.c_str();
  init.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  if (const CUptiResult r = cupti_.ProfilerHostInitialize(&init); r != CUPTI_SUCCESS) return r;
  host_ = init.pHostObject;

  CUpti_Profiler_Host_ConfigAddMetrics_Params add{};
  add.structSize = CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE;
  add.pHostObject = host_;
  add.ppMetricNames = metrics_.data();
  add.numMetrics = metrics_.size();
  if (const CUptiResult r = cupti_.ProfilerHostConfigAddMetrics(&add); r != CUPTI_SUCCESS) {
    // Leaked on purpose: if the device lacks a metric that the chip has, this call frees parts of the
    // object, and HostDeinitialize would free them again (CUPTI 13.0 Update 1 on an H200 without NVLink).
    host_ = nullptr;
    return r;
  }

  CUpti_Profiler_Host_GetConfigImageSize_Params size{};
  size.structSize = CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE;
  size.pHostObject = host_;
  if (const CUptiResult r = cupti_.ProfilerHostGetConfigImageSize(&size); r != CUPTI_SUCCESS) return r;
  image_.resize(size.configImageSize);

  CUpti_Profiler_Host_GetConfigImage_Params get{};
  get.structSize = CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE;
  get.pHostObject = host_;
  get.configImageSize = image_.size();
  get.pConfigImage = image_.data();
  if (const CUptiResult r = cupti_.ProfilerHostGetConfigImage(&get); r != CUPTI_SUCCESS) return r;

  CUpti_Profiler_Host_GetNumOfPasses_Params passes{};
  passes.structSize = CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE;
  passes.configImageSize = image_.size();
  passes.pConfigImage = image_.data();
  if (const CUptiResult r = cupti_.ProfilerHostGetNumOfPasses(&passes); r != CUPTI_SUCCESS) return r;
  passes_ = passes.numOfPasses;
  return CUPTI_SUCCESS;
}

CUptiResult MetricConfig::evaluate_names(std::span<const std::uint8_t> counter_data, std::size_t range,
                                         std::span<const char*> names, double* values) {
  CUpti_Profiler_Host_EvaluateToGpuValues_Params params{};
  params.structSize = CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE;
  params.pHostObject = host_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = range;
  params.ppMetricNames = names.data();
  params.numMetrics = names.size();
  params.pMetricValues = values;
  return cupti_.ProfilerHostEvaluateToGpuValues(&params);
}

CUptiResult MetricConfig::evaluate_one(std::span<const std::uint8_t> counter_data, std::size_t range,
                                       std::size_t metric, double& value) {
  return evaluate_names(counter_data, range, std::span(metrics_).subspan(metric, 1), &value);
}

CUptiResult MetricConfig::evaluate(std::span<const std::uint8_t> counter_data, std::size_t range,
                                   std::span<double> values, std::size_t needed) {
  if (const CUptiResult r = evaluate_names(counter_data, range, metrics_, values.data()); r != CUPTI_SUCCESS)
    return r;
  // CUPTI returns NaN for a counter that the hardware did not deliver.
  const auto core = values.first(std::min(needed, values.size()));
  const bool delivered =
      std::all_of(core.begin(), core.end(), [](double value) { return std::isfinite(value); });
  return delivered ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_METRIC_VALUE;
}

}  // namespace rangefinder
