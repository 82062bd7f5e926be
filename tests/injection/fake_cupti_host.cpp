// SPDX-License-Identifier: Apache-2.0
//
// The fake CUPTI's host side of counters: chips, metrics, configuration, evaluation.
#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/injection/fake_cupti_images.h"

struct CUpti_Profiler_Host_Object {
  std::vector<const fake::Metric*> metrics;
  bool refused_a_metric = false;  ///< the real library then has freed parts of the object
};

namespace {
constexpr const char* kChip = "GH100";
constexpr const char* kChips[] = {"GA100", kChip};

// The real library has parts that are destroyed at exit, registered when they are first used.
std::atomic<bool> library_ended{false};
struct LibraryPart {
  ~LibraryPart() { library_ended = true; }
};

}  // namespace

void fake::open_counter_library() {
  // Programs that use CUDA in destructors at exit begin anew. Only the test of slow planning forbids it.
  if (library_ended && number_from("FAKE_CUPTI_PLAN_US", 0) != 0)
    violation("the counter library is used after its end");
  static const LibraryPart part;
  (void)dlopen("libm.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
}

#define BEGIN(name)                                                               \
  FAKE_BEGIN(name, counters);                                                     \
  if (params == nullptr || params->structSize == 0 || params->pPriv != nullptr) { \
    return CUPTI_ERROR_INVALID_PARAMETER;                                         \
  }
#define BEGIN_HOST(name) \
  BEGIN(name)            \
  if (params->pHostObject == nullptr) return CUPTI_ERROR_INVALID_PARAMETER

FAKE_EXPORT CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  BEGIN(DeviceGetChipName)
  if (params->deviceIndex >= static_cast<std::size_t>(fake::gpus())) return CUPTI_ERROR_INVALID_DEVICE;
  params->pChipName = kChip;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  BEGIN(ProfilerGetCounterAvailability)
  if (!fake::counters_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (params->ctx == nullptr || !params->ctx->alive) return CUPTI_ERROR_INVALID_CONTEXT;
  if (params->pCounterAvailabilityImage == nullptr) {
    params->counterAvailabilityImageSize = sizeof(fake::kAvailabilityMagic);
    return CUPTI_SUCCESS;
  }
  if (params->counterAvailabilityImageSize < sizeof(fake::kAvailabilityMagic))
    return CUPTI_ERROR_INVALID_PARAMETER;
  std::memcpy(params->pCounterAvailabilityImage, &fake::kAvailabilityMagic, sizeof(fake::kAvailabilityMagic));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  BEGIN(ProfilerHostInitialize)
  bool known = false;
  for (const char* const chip : kChips)
    known = known || (params->pChipName != nullptr && std::strcmp(chip, params->pChipName) == 0);
  if (!known) return CUPTI_ERROR_INVALID_CHIP_NAME;
  if (params->pCounterAvailabilityImage != nullptr &&
      std::memcmp(params->pCounterAvailabilityImage, &fake::kAvailabilityMagic,
                  sizeof(fake::kAvailabilityMagic)) != 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  fake::open_counter_library();
  params->pHostObject = new CUpti_Profiler_Host_Object;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  BEGIN_HOST(ProfilerHostDeinitialize);
  if (params->pHostObject->refused_a_metric)
    fake::violation("a host object that refused a metric is freed twice");
  delete params->pHostObject;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiProfilerHostGetSupportedChips(CUpti_Profiler_Host_GetSupportedChips_Params* params) {
  BEGIN(ProfilerHostGetSupportedChips)
  fake::open_counter_library();
  params->numChips = std::size(kChips);
  params->ppChipNames = kChips;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params* params) {
  static const char* names[fake::kMetrics.size()];
  BEGIN_HOST(ProfilerHostGetBaseMetrics);
  for (std::size_t i = 0; i < fake::kMetrics.size(); ++i) names[i] = fake::kMetrics[i].name;
  params->ppMetricNames = names;
  params->numMetrics = fake::kMetrics.size();
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params* params) {
  BEGIN_HOST(ProfilerHostGetSubMetrics);
  params->numOfSubmetrics = 0;
  params->ppSubMetrics = nullptr;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiProfilerHostGetMetricProperties(CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  BEGIN_HOST(ProfilerHostGetMetricProperties);
  if (!fake::is_metric(params->pMetricName)) return CUPTI_ERROR_INVALID_METRIC_NAME;
  params->pDescription = "a metric of the fake";
  params->pHwUnit = params->pDimUnit = "bytes";
  params->metricType = CUPTI_METRIC_TYPE_COUNTER;
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  BEGIN_HOST(ProfilerHostConfigAddMetrics);
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    const fake::Metric* const metric = fake::find_metric(params->ppMetricNames[i]);
    if (metric == nullptr) {
      params->pHostObject->refused_a_metric = true;
      return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    params->pHostObject->metrics.push_back(metric);
  }
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  BEGIN_HOST(ProfilerHostGetConfigImageSize);
  if (params->pHostObject->metrics.empty()) return CUPTI_ERROR_INVALID_OPERATION;
  params->configImageSize = sizeof(fake::ConfigImage);
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  BEGIN_HOST(ProfilerHostGetConfigImage);
  const std::uint64_t metrics = params->pHostObject->metrics.size();
  const auto a_pass =
      static_cast<std::uint64_t>(fake::number_from("FAKE_CUPTI_A_PASS", std::int64_t{fake::kMetrics.size()}));
  const auto least = static_cast<std::uint64_t>(fake::number_from("FAKE_CUPTI_PASSES", 1));
  static std::atomic<std::uint64_t> made{0};
  const fake::ConfigImage image{fake::kConfigMagic, metrics, std::max(least, (metrics + a_pass - 1) / a_pass),
                                made.fetch_add(1)};
  if (params->configImageSize < sizeof(image) || params->pConfigImage == nullptr)
    return CUPTI_ERROR_INVALID_PARAMETER;
  std::memcpy(params->pConfigImage, &image, sizeof(image));
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  BEGIN(ProfilerHostGetNumOfPasses)
  const fake::ConfigImage* const image = fake::config_image(params->pConfigImage, params->configImageSize);
  if (image == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  usleep(static_cast<useconds_t>(fake::number_from("FAKE_CUPTI_PLAN_US", 0)));
  params->numOfPasses = static_cast<std::size_t>(image->passes);
  return CUPTI_SUCCESS;
}

namespace {

const fake::CounterRange* range_of(const std::uint8_t* data, std::size_t bytes, std::size_t index) {
  const fake::CounterImage* const image = fake::counter_image(data, bytes);
  if (image == nullptr || index >= image->ranges) return nullptr;
  return reinterpret_cast<const fake::CounterRange*>(image + 1) + index;
}

}  // namespace

FAKE_EXPORT CUptiResult cuptiProfilerHostGetRangeName(CUpti_Profiler_Host_GetRangeName_Params* params) {
  BEGIN(ProfilerHostGetRangeName)
  const fake::CounterRange* const range =
      range_of(params->pCounterDataImage, params->counterDataImageSize, params->rangeIndex);
  if (range == nullptr || params->delimiter == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->pRangeName = strdup(range->name);  // CUPTI: the caller frees it
  return CUPTI_SUCCESS;
}

FAKE_EXPORT CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  BEGIN_HOST(ProfilerHostEvaluateToGpuValues);
  const fake::CounterRange* const range =
      range_of(params->pCounterDataImage, params->counterDataImageSize, params->rangeIndex);
  if (range == nullptr || params->pMetricValues == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    const fake::Metric* const metric = fake::find_metric(params->ppMetricNames[i]);
    if (metric == nullptr) return CUPTI_ERROR_INVALID_METRIC_NAME;
    const bool delivered = range->undelivered == 0 || metric < fake::kMetrics.data() + fake::kAlwaysCounted;
    params->pMetricValues[i] = delivered ? metric->base + metric->step * static_cast<double>(range->serial)
                                         : std::numeric_limits<double>::quiet_NaN();
  }
  return CUPTI_SUCCESS;
}
