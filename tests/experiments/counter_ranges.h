// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's Range Profiler for benchmarks: one context, one set of counters, user ranges.
// Prints one line and ends the program if a call fails.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/counters/metrics/metric_config.h"
#include "profiler/cupti/loader.h"

namespace rangefinder::bench {

using Metrics = std::vector<const char*>;

inline void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(3);
}

inline void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  std::fprintf(stderr, "%s: CUPTI error %d\n", what, static_cast<int>(result));
  std::exit(3);
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One range of CUPTI's Range Profiler at a time.
class CounterRanges {
 public:
  CounterRanges(const CuptiLibrary& library, Metrics metrics, std::size_t max_ranges)
      : library_(library), max_ranges_(max_ranges) {
    CUpti_Profiler_Initialize_Params init{CUpti_Profiler_Initialize_Params_STRUCT_SIZE, nullptr};
    check(cupti().ProfilerInitialize(&init), "cuptiProfilerInitialize");
    CUpti_Device_GetChipName_Params chip{CUpti_Device_GetChipName_Params_STRUCT_SIZE, nullptr, 0, nullptr};
    check(cupti().DeviceGetChipName(&chip), "cuptiDeviceGetChipName");
    chip_ = chip.pChipName;
    enable();
    change(std::move(metrics));
  }

  void enable() {
    CUpti_RangeProfiler_Enable_Params params{CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE, nullptr,
                                             context(), nullptr};
    check(cupti().RangeProfilerEnable(&params), "cuptiRangeProfilerEnable");
    profiler_ = params.pRangeProfilerObject;
  }

  void disable() {
    CUpti_RangeProfiler_Disable_Params params{CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE, nullptr,
                                              profiler_};
    cupti().RangeProfilerDisable(&params);
  }

  /// Uses other metrics from the next configure() on.
  void change(Metrics metrics) {
    metrics_ = std::move(metrics);
    // CUPTI keeps pointers to the old images, so they must stay alive.
    configs_.push_back(std::make_unique<MetricConfig>(library_.functions));
    check(configs_.back()->build(chip_, {}, metrics_), "metric config");
    CUpti_RangeProfiler_GetCounterDataSize_Params size{};
    size.structSize = CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE;
    size.pRangeProfilerObject = profiler_;
    size.pMetricNames = metrics_.data();
    size.numMetrics = metrics_.size();
    size.maxNumOfRanges = max_ranges_;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(max_ranges_);
    check(cupti().RangeProfilerGetCounterDataSize(&size), "cuptiRangeProfilerGetCounterDataSize");
    data_.resize(size.counterDataSize);
  }

  ~CounterRanges() { disable(); }
  CounterRanges(const CounterRanges&) = delete;
  CounterRanges& operator=(const CounterRanges&) = delete;

  std::size_t passes() const { return configs_.back()->passes(); }

  /// Medians of all metrics over `repeats` ranges around `work`.
  std::vector<double> measure(int repeats, const std::function<void()>& work) {
    reset();
    configure();
    start();
    for (int i = 0; i < repeats; ++i) range(i, work);
    stop();
    decode();
    return medians(repeats);
  }

  void reset() {
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params params{};
    params.structSize = CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = profiler_;
    params.counterDataSize = data_.size();
    params.pCounterData = data_.data();
    check(cupti().RangeProfilerCounterDataImageInitialize(&params),
          "cuptiRangeProfilerCounterDataImageInitialize");
  }

  void configure() {
    CUpti_RangeProfiler_SetConfig_Params params{};
    params.structSize = CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = profiler_;
    params.configSize = configs_.back()->image().size();
    params.pConfig = configs_.back()->image().data();
    params.counterDataImageSize = data_.size();
    params.pCounterDataImage = data_.data();
    params.range = CUPTI_UserRange;
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = max_ranges_;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.targetNestingLevel = 1;
    check(cupti().RangeProfilerSetConfig(&params), "cuptiRangeProfilerSetConfig");
  }

  void start() {
    CUpti_RangeProfiler_Start_Params params{CUpti_RangeProfiler_Start_Params_STRUCT_SIZE, nullptr, profiler_};
    check(cupti().RangeProfilerStart(&params), "cuptiRangeProfilerStart");
  }

  void range(int index, const std::function<void()>& work) {
    const std::string name = std::to_string(index);
    CUpti_RangeProfiler_PushRange_Params push{CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE, nullptr,
                                              profiler_, name.c_str()};
    check(cupti().RangeProfilerPushRange(&push), "cuptiRangeProfilerPushRange");
    work();
    CUpti_RangeProfiler_PopRange_Params pop{CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE, nullptr,
                                            profiler_};
    check(cupti().RangeProfilerPopRange(&pop), "cuptiRangeProfilerPopRange");
  }

  void stop() {
    CUpti_RangeProfiler_Stop_Params params{};
    params.structSize = CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE;
    params.pRangeProfilerObject = profiler_;
    check(cupti().RangeProfilerStop(&params), "cuptiRangeProfilerStop");
  }

  void decode() {
    CUpti_RangeProfiler_DecodeData_Params params{CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE, nullptr,
                                                 profiler_, 0};
    check(cupti().RangeProfilerDecodeData(&params), "cuptiRangeProfilerDecodeData");
  }

  void evaluate(std::size_t range, std::vector<double>& values) {
    check(configs_.back()->evaluate(data_, range, values), "evaluate");
  }

  /// Number of metrics that have a value for the range.
  std::size_t delivered(std::size_t range) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      double value = 0;
      if (configs_.back()->evaluate_one(data_, range, i, value) == CUPTI_SUCCESS && std::isfinite(value))
        ++count;
    }
    return count;
  }

 private:
  const rangefinder::CuptiFunctions& cupti() const { return library_.functions; }

  static CUcontext context() {
    void* get = nullptr;
    check(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &get, 13000, cudaEnableDefault, nullptr),
          "cuCtxGetCurrent");
    CUcontext current = nullptr;
    reinterpret_cast<CUresult (*)(CUcontext*)>(get)(&current);
    return current;
  }

  std::vector<double> medians(int repeats) {
    std::vector<std::vector<double>> columns(metrics_.size());
    for (std::size_t at = 0; at < static_cast<std::size_t>(repeats); ++at) {
      std::vector<double> values(metrics_.size());
      evaluate(at, values);
      for (std::size_t i = 0; i < values.size(); ++i) columns[i].push_back(values[i]);
    }
    std::vector<double> out;
    for (const auto& column : columns) out.push_back(median(column));
    return out;
  }

  const CuptiLibrary& library_;
  std::string chip_;
  std::vector<std::unique_ptr<MetricConfig>> configs_;
  Metrics metrics_;
  const std::size_t max_ranges_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> data_;
};

}  // namespace rangefinder::bench
