// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/metric_catalog.h"

#include <dlfcn.h>

#include <algorithm>

#include "tools/analysis/missing.h"

namespace rangefinder {
namespace {

/// CUPTI's parameter blocks: zero but for their size.
template <typename Params>
Params sized(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

void require(const CuptiFunctions& cupti, CUptiResult result, const std::string& what) {
  if (result != CUPTI_SUCCESS)
    throw Missing("CUPTI cannot " + what + ": " + cupti_result_text(cupti, result));
}

}  // namespace

std::vector<std::string> supported_chips(const CuptiFunctions& cupti) {
  auto params = sized<CUpti_Profiler_Host_GetSupportedChips_Params>(
      CUpti_Profiler_Host_GetSupportedChips_Params_STRUCT_SIZE);
  require(cupti, cupti.ProfilerHostGetSupportedChips(&params), "list the chips it knows");
  return {params.ppChipNames, params.ppChipNames + params.numChips};
}

std::string chip_of_gpu(const CuptiFunctions& cupti) {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return {};
  const auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(driver, "cuInit"));
  if (init == nullptr || init(0) != CUDA_SUCCESS) return {};
  auto profiler = sized<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  if (cupti.ProfilerInitialize(&profiler) != CUPTI_SUCCESS) return {};
  auto params = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  if (cupti.DeviceGetChipName(&params) != CUPTI_SUCCESS || params.pChipName == nullptr) return {};
  return params.pChipName;
}

MetricCatalog::MetricCatalog(const CuptiFunctions& cupti, const std::string& chip) : cupti_(cupti) {
  auto params =
      sized<CUpti_Profiler_Host_Initialize_Params>(CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  require(cupti, cupti.ProfilerHostInitialize(&params), "describe the chip " + chip);
  host_ = params.pHostObject;
}

MetricCatalog::~MetricCatalog() {
  auto params =
      sized<CUpti_Profiler_Host_Deinitialize_Params>(CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  params.pHostObject = host_;
  cupti_.ProfilerHostDeinitialize(&params);
}

bool MetricCatalog::describe(const std::string& metric, MetricInfo& info) const {
  auto params = sized<CUpti_Profiler_Host_GetMetricProperties_Params>(
      CUpti_Profiler_Host_GetMetricProperties_Params_STRUCT_SIZE);
  params.pHostObject = host_;
  params.pMetricName = metric.c_str();
  if (cupti_.ProfilerHostGetMetricProperties(&params) != CUPTI_SUCCESS) return false;
  info.name = metric;
  if (params.pDimUnit != nullptr) info.unit = params.pDimUnit;
  if (params.pDescription != nullptr) info.description = params.pDescription;
  return true;
}

std::vector<std::string> MetricCatalog::base_metrics(const std::string& pattern) const {
  std::vector<std::string> out;
  for (const CUpti_MetricType type :
       {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO, CUPTI_METRIC_TYPE_THROUGHPUT}) {
    auto params = sized<CUpti_Profiler_Host_GetBaseMetrics_Params>(
        CUpti_Profiler_Host_GetBaseMetrics_Params_STRUCT_SIZE);
    params.pHostObject = host_;
    params.metricType = type;
    require(cupti_, cupti_.ProfilerHostGetBaseMetrics(&params), "list metrics");
    for (std::size_t i = 0; i < params.numMetrics; ++i) {
      std::string name = params.ppMetricNames[i];
      if (name.find(pattern) != std::string::npos) out.push_back(std::move(name));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::size_t MetricCatalog::passes(const std::vector<const char*>& metrics) {
  auto names = metrics;
  auto add = sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = host_;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  require(cupti_, cupti_.ProfilerHostConfigAddMetrics(&add), "count these metrics together");

  auto size = sized<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = host_;
  require(cupti_, cupti_.ProfilerHostGetConfigImageSize(&size), "plan the passes");
  std::vector<std::uint8_t> image(size.configImageSize);
  auto get =
      sized<CUpti_Profiler_Host_GetConfigImage_Params>(CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  get.pHostObject = host_;
  get.configImageSize = image.size();
  get.pConfigImage = image.data();
  require(cupti_, cupti_.ProfilerHostGetConfigImage(&get), "plan the passes");

  auto count =
      sized<CUpti_Profiler_Host_GetNumOfPasses_Params>(CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  count.configImageSize = image.size();
  count.pConfigImage = image.data();
  require(cupti_, cupti_.ProfilerHostGetNumOfPasses(&count), "count the passes");
  return count.numOfPasses;
}

}  // namespace rangefinder
