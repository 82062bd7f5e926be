// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's Range Profiler for experiments: one context, one set of counters, user ranges.
// Prints one line and ends the program if a call fails.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/counters/cupti_params.h"
#include "profiler/counters/metrics/metric_config.h"
#include "tests/experiments/experiment.h"
#include "workloads/probes/driver_function.h"

namespace rangefinder::bench {

using Metrics = std::vector<const char*>;

/// libcupti with its counter library, where there is a GPU.
inline const CuptiLibrary& counters_or_exit() {
  probe::require_gpu();
  const CuptiLibrary& library = cupti_or_exit();
  preload_counter_library(library);
  return library;
}

inline std::string chip_name(const CuptiFunctions& cupti) {
  auto init = RANGEFINDER_CUPTI_PARAMS(Profiler_Initialize);
  check_cupti(cupti.ProfilerInitialize(&init), "cuptiProfilerInitialize");
  auto chip = RANGEFINDER_CUPTI_PARAMS(Device_GetChipName);
  check_cupti(cupti.DeviceGetChipName(&chip), "cuptiDeviceGetChipName");
  return chip.pChipName;
}

/// Costs of full batches of ranges: of the first start, then of each batch's parts.
struct BatchCosts {
  double first_ms = 0;
  std::vector<double> range_us, stop_ms, decode_ms, evaluate_ms, restart_ms;
};

/// One range of CUPTI's Range Profiler at a time.
class CounterRanges {
 public:
  CounterRanges(const CuptiLibrary& library, Metrics metrics, std::size_t max_ranges)
      : cupti_(library.functions), chip_(chip_name(cupti_)), max_ranges_(max_ranges) {
    enable();
    change(std::move(metrics));
  }
  ~CounterRanges() { disable(); }
  CounterRanges(const CounterRanges&) = delete;
  CounterRanges& operator=(const CounterRanges&) = delete;

  void enable() {
    auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Enable);
    const auto current = probe::driver_function<decltype(&cuCtxGetCurrent)>("cuCtxGetCurrent");
    probe::check_driver(current(&params.ctx), "cuCtxGetCurrent");
    profiler_ = call(cupti_.RangeProfilerEnable, params, "enable").pRangeProfilerObject;
  }

  void disable() {
    auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Disable);
    params.pRangeProfilerObject = profiler_;
    cupti_.RangeProfilerDisable(&params);
  }

  /// Uses other metrics from the next configure() on.
  void change(Metrics metrics) {
    metrics_ = std::move(metrics);
    // CUPTI keeps pointers to the old images, so they must stay alive.
    configs_.push_back(std::make_unique<MetricConfig>(cupti_));
    check_cupti(configs_.back()->build(chip_, {}, metrics_), "metric config");
    auto size = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_GetCounterDataSize);
    size.pMetricNames = metrics_.data();
    size.numMetrics = metrics_.size();
    size.maxNumOfRanges = max_ranges_;
    size.maxNumRangeTreeNodes = static_cast<std::uint32_t>(max_ranges_);
    data_.resize(call(cupti_.RangeProfilerGetCounterDataSize, size, "size").counterDataSize);
  }

  std::size_t passes() const { return configs_.back()->passes(); }

  /// Medians of all metrics over `repeats` ranges around `work`.
  std::vector<double> measure(int repeats, const std::function<void()>& work) {
    reset();
    configure();
    start();
    for (int i = 0; i < repeats; ++i) range(i, work);
    stop();
    decode();
    return medians(static_cast<std::size_t>(repeats));
  }

  /// `batches` full batches of ranges around `work`.
  BatchCosts measure_batches(int batches, const std::function<void()>& work) {
    BatchCosts costs;
    const auto count = static_cast<int>(max_ranges_);
    std::vector<double> values(metrics_.size());
    reset();
    configure();
    costs.first_ms = ms_of([&] { start(); });
    for (int batch = 0; batch < batches; ++batch) {
      costs.range_us.push_back(us_of([&] {
                                 for (int i = 0; i < count; ++i) range(i, work);
                                 probe::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
                               }) /
                               count);
      costs.stop_ms.push_back(ms_of([&] { stop(); }));
      costs.decode_ms.push_back(ms_of([&] { decode(); }));
      costs.evaluate_ms.push_back(ms_of([&] {
        for (std::size_t i = 0; i < max_ranges_; ++i) evaluate(i, values);
      }));
      costs.restart_ms.push_back(ms_of([&] {
        reset();
        start();
      }));
    }
    stop();
    return costs;
  }

  void reset() {
    auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_CounterDataImage_Initialize);
    params.counterDataSize = data_.size();
    params.pCounterData = data_.data();
    call(cupti_.RangeProfilerCounterDataImageInitialize, params, "image");
  }

  void configure() {
    auto params = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_SetConfig);
    params.configSize = configs_.back()->image().size();
    params.pConfig = configs_.back()->image().data();
    params.counterDataImageSize = data_.size();
    params.pCounterDataImage = data_.data();
    params.range = CUPTI_UserRange;
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = max_ranges_;
    params.numNestingLevels = params.minNestingLevel = params.targetNestingLevel = 1;
    call(cupti_.RangeProfilerSetConfig, params, "configuration");
  }

  void start() { call(cupti_.RangeProfilerStart, RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Start), "start"); }
  void stop() { call(cupti_.RangeProfilerStop, RANGEFINDER_CUPTI_PARAMS(RangeProfiler_Stop), "stop"); }
  void decode() {
    call(cupti_.RangeProfilerDecodeData, RANGEFINDER_CUPTI_PARAMS(RangeProfiler_DecodeData), "decode");
  }

  void range(int index, const std::function<void()>& work) {
    const std::string name = std::to_string(index);
    auto push = RANGEFINDER_CUPTI_PARAMS(RangeProfiler_PushRange);
    push.pRangeName = name.c_str();
    call(cupti_.RangeProfilerPushRange, push, "push");
    work();
    call(cupti_.RangeProfilerPopRange, RANGEFINDER_CUPTI_PARAMS(RangeProfiler_PopRange), "pop");
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
  /// Calls `function` for this session; returns what it wrote.
  template <typename Params>
  Params call(CUptiResult (*function)(Params*), Params params, const char* what) {
    params.pRangeProfilerObject = profiler_;
    check_cupti(function(&params), what);
    return params;
  }

  void evaluate(std::size_t range, std::vector<double>& values) {
    check_cupti(configs_.back()->evaluate(data_, range, values), "evaluate");
  }

  std::vector<double> medians(std::size_t repeats) {
    std::vector<std::vector<double>> rows(repeats, std::vector<double>(metrics_.size()));
    for (std::size_t at = 0; at < repeats; ++at) evaluate(at, rows[at]);
    std::vector<double> out;
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      std::vector<double> column;
      for (const auto& row : rows) column.push_back(row[i]);
      out.push_back(median(column));
    }
    return out;
  }

  const CuptiFunctions& cupti_;
  const std::string chip_;
  std::vector<std::unique_ptr<MetricConfig>> configs_;
  Metrics metrics_;
  const std::size_t max_ranges_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::vector<std::uint8_t> data_;
};

}  // namespace rangefinder::bench
