// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/counter_config.h"

#include <cmath>
#include <limits>

#include "profiler/counters/counter_errors.h"
#include "profiler/counters/cupti_params.h"

namespace rangefinder {

bool CounterConfig::fail(const char* step, CUptiResult result) {
  error_ = counter_error_text(library_.functions, step, result);
  return false;
}

bool CounterConfig::open(CUcontext context, std::uint32_t gpu, const std::atomic<bool>* cancelled) {
  if (!library_.no_counters.empty()) {
    error_ = library_.no_counters;
    return false;
  }
  preload_counter_library(library_);
  if (!read_device(context, gpu) || (cancelled != nullptr && *cancelled)) return false;
  MetricConfig first(library_.functions);  // parts of the library register exit handlers when first used
  (void)first.build(chip_, availability_, std::span(kExactMetricNames, kSentinelMetrics));
  return true;
}

bool CounterConfig::build(const std::string& request, const std::atomic<bool>* cancelled) {
  plan_ = plan_metrics(library_.functions, chip_, availability_, request, cancelled);
  if (!plan_.error.empty()) {
    error_ = plan_.error;
    return false;
  }
  if (plan_.groups.empty()) {
    error_ = "none of the metrics can be collected in a single pass on " + chip_ +
             ", and only a single pass leaves the program as it is";
    return false;
  }
  return build_groups(cancelled);
}

bool CounterConfig::build_groups(const std::atomic<bool>* cancelled) {
  for (const MetricGroup& group : plan_.groups) {
    if (cancelled != nullptr && *cancelled) return false;
    if (group.metrics.size() > kMaxRangeMetrics) {
      error_ = "metric set " + group.name + " holds more metrics than one range can";
      return false;
    }
    auto config = std::make_unique<MetricConfig>(library_.functions);
    if (const CUptiResult r = config->build(chip_, availability_, group.names()); r != CUPTI_SUCCESS)
      return fail("choosing counters", r);
    configs_.push_back(std::move(config));
  }
  return true;
}

bool CounterConfig::read_device(CUcontext context, std::uint32_t gpu) {
  const CuptiFunctions& cupti = library_.functions;
  auto init = RANGEFINDER_CUPTI_PARAMS(Profiler_Initialize);
  if (const CUptiResult r = cupti.ProfilerInitialize(&init); r != CUPTI_SUCCESS)
    return fail("cuptiProfilerInitialize", r);

  auto chip = RANGEFINDER_CUPTI_PARAMS(Device_GetChipName);
  chip.deviceIndex = gpu;
  if (const CUptiResult r = cupti.DeviceGetChipName(&chip); r != CUPTI_SUCCESS)
    return fail("cuptiDeviceGetChipName", r);
  chip_ = chip.pChipName;

  auto available = RANGEFINDER_CUPTI_PARAMS(Profiler_GetCounterAvailability);
  available.ctx = context;
  if (const CUptiResult r = cupti.ProfilerGetCounterAvailability(&available); r != CUPTI_SUCCESS)
    return fail("cuptiProfilerGetCounterAvailability", r);
  availability_.resize(available.counterAvailabilityImageSize);
  available.pCounterAvailabilityImage = availability_.data();
  if (const CUptiResult r = cupti.ProfilerGetCounterAvailability(&available); r != CUPTI_SUCCESS)
    return fail("cuptiProfilerGetCounterAvailability", r);
  return true;
}

bool CounterConfig::evaluate(std::size_t group, std::span<const std::uint8_t> image, std::size_t range,
                             std::span<double, kMaxRangeMetrics> values) {
  const std::size_t count = plan_.groups[group].metrics.size();
  // Bytes need all values. In other sets a ratio may have a zero denominator.
  const std::size_t needed = count == kExactMetrics ? count : kSentinelMetrics;
  const CUptiResult all = configs_[group]->evaluate(image, range, values.first(count), needed);
  if (all == CUPTI_SUCCESS || needed == count) return all == CUPTI_SUCCESS;
  // One metric that the device does not deliver makes the whole call fail: evaluate them one by one.
  for (std::size_t i = 0; i < count; ++i) {
    if (configs_[group]->evaluate_one(image, range, i, values[i]) != CUPTI_SUCCESS) {
      values[i] = std::numeric_limits<double>::quiet_NaN();
    }
  }
  return std::isfinite(values[kEngineCycles]) && std::isfinite(values[kEngineClock]);
}

}  // namespace rangefinder
