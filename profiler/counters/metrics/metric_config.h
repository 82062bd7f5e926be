// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's configuration of the collected counters: metric names in, a configuration
// image and its number of passes out. Host side only: needs no GPU, so tests and
// `rangefinder metrics` can use any chip.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/cupti/functions.h"

namespace rangefinder {

/// The counters of exact mode, in the order of ExactLaunch::values.
///
/// A launch's GPU time is the compute engine's active cycles divided by its clock, minus
/// kRangeOverheadNs. The obvious choice, gpu__time_duration, starts when the range opens. It
/// includes host work before the kernel begins: milliseconds if the first launch loads the
/// kernel. The multiprocessors' own cycles would be exact, but counters on every multiprocessor
/// cost 765 us per range (H200, 2026-11-21; docs/internals/measured.md).
enum ExactMetric : std::size_t {
  kEngineCycles,
  kEngineClock,
  kDramRead,
  kDramWrite,
  kL2Bytes,
  kExactMetrics
};
inline constexpr const char* kExactMetricNames[kExactMetrics] = {
    "gr__cycles_active.sum",               // cycles
    "sys__cycles_elapsed.avg.per_second",  // cycles/s
    "dram__bytes_read.sum",                // bytes
    "dram__bytes_write.sum",               // bytes
    "lts__t_bytes.sum",                    // bytes
};

/// The time that the range itself adds to the engine's time around one kernel. Subtracted so that
/// durations agree with kernel records. Measured on an H200; not measured on other chips.
inline constexpr double kRangeOverheadNs = 3100;
/// What it adds besides if a counter is read from each multiprocessor (counts_every_multiprocessor). Measured
/// on an H100: 1.0 to 1.4 us for kernels below 70 us (docs/internals/measured.md).
inline constexpr double kMultiprocessorRangeNs = 1300;

/// A host object of CUPTI's profiler and its configuration. Not thread-safe.
class MetricConfig {
 public:
  explicit MetricConfig(const CuptiFunctions& cupti) noexcept : cupti_(cupti) {}
  ~MetricConfig();
  MetricConfig(const MetricConfig&) = delete;
  MetricConfig& operator=(const MetricConfig&) = delete;

  /// `chip`: for example "GH100". `availability`: the device's counter availability image; may be empty.
  [[nodiscard]] CUptiResult build(const std::string& chip, std::span<const std::uint8_t> availability,
                                  std::span<const char* const> metrics,
                                  CUpti_ProfilerType type = CUPTI_PROFILER_TYPE_RANGE_PROFILER);

  [[nodiscard]] std::span<const std::uint8_t> image() const noexcept { return image_; }
  [[nodiscard]] std::size_t passes() const noexcept { return passes_; }
  /// The names given to build(). The caller owns the strings.
  [[nodiscard]] const std::vector<const char*>& metrics() const noexcept { return metrics_; }
  [[nodiscard]] CUpti_Profiler_Host_Object* host() const noexcept { return host_; }

  /// Values of one range of a decoded counter image, in the order given to build(). Also an error if one of
  /// the first `needed` values is NaN. Later ones may be NaN (a hit rate without accesses).
  [[nodiscard]] CUptiResult evaluate(std::span<const std::uint8_t> counter_data, std::size_t range,
                                     std::span<double> values, std::size_t needed = SIZE_MAX);
  /// The value of metric number `metric` only.
  [[nodiscard]] CUptiResult evaluate_one(std::span<const std::uint8_t> counter_data, std::size_t range,
                                         std::size_t metric, double& value);

 private:
  [[nodiscard]] CUptiResult evaluate_names(std::span<const std::uint8_t> counter_data, std::size_t range,
                                           std::span<const char*> names, double* values);

  const CuptiFunctions& cupti_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  std::vector<const char*> metrics_;
  std::vector<std::uint8_t> image_;
  std::size_t passes_ = 0;
};

}  // namespace rangefinder
