// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's function table for tests: the real host side, which knows chips and metrics and
// needs no GPU, and a fake device, whose counters have the values that a test sets.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "profiler/cupti/loader.h"

namespace rangefinder::test {

/// The fake device's answers. The functions below are plain C: one device per process.
struct DeviceWithoutGpu {
  const char* chip = "GH100";
  CUptiResult initialize = CUPTI_SUCCESS, chip_name = CUPTI_SUCCESS, availability = CUPTI_SUCCESS;
  CUptiResult info = CUPTI_SUCCESS;
  std::vector<std::string> range_names;     ///< of a counter image
  std::vector<std::vector<double>> values;  ///< by range, in the order of its group's metrics
  std::string refused_metric;               ///< evaluating it fails
};

inline DeviceWithoutGpu device;

inline CUptiResult evaluate(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params,
                            const std::vector<std::string>& metrics) {
  const std::vector<double>& of_range = device.values[params->rangeIndex];
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    if (device.refused_metric == params->ppMetricNames[i]) return CUPTI_ERROR_INVALID_METRIC_NAME;
    for (std::size_t at = 0; at < metrics.size(); ++at) {
      if (metrics[at] == params->ppMetricNames[i]) params->pMetricValues[i] = of_range[at];
    }
  }
  return CUPTI_SUCCESS;
}

inline std::vector<std::string> evaluated_metrics;  ///< names of the values' columns

/// `library` with the real host functions and this device.
[[nodiscard]] inline CuptiLibrary without_gpu(const CuptiFunctions& real) {
  device = {};
  evaluated_metrics.clear();
  CuptiLibrary library;
  CuptiFunctions& table = library.functions;
  table = real;
  table.ProfilerInitialize = [](CUpti_Profiler_Initialize_Params*) { return device.initialize; };
  table.DeviceGetChipName = [](CUpti_Device_GetChipName_Params* params) {
    params->pChipName = device.chip;
    return device.chip_name;
  };
  table.ProfilerGetCounterAvailability = [](CUpti_Profiler_GetCounterAvailability_Params*) {
    return device.availability;  // no image: the host side assumes all of the chip's counters
  };
  table.RangeProfilerGetCounterDataInfo = [](CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
    params->numTotalRanges = device.range_names.size();
    return device.info;
  };
  table.ProfilerHostGetRangeName = [](CUpti_Profiler_Host_GetRangeName_Params* params) {
    params->pRangeName = strdup(device.range_names[params->rangeIndex].c_str());
    return CUPTI_SUCCESS;
  };
  table.ProfilerHostEvaluateToGpuValues = [](CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
    return evaluate(params, evaluated_metrics);
  };
  return library;
}

}  // namespace rangefinder::test
