// SPDX-License-Identifier: Apache-2.0
//
// Which counters are collected, as CUPTI wants to be told: names in, a configuration
// image and its number of passes out. Host side only: needs no GPU, so that tests and
// `rangefinder metrics` can ask for any chip.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profiler/cupti/functions.h"

namespace rangefinder {

/// The counters of exact mode, in the order of ExactLaunch::values.
///
/// A launch's GPU time is the cycles in which the compute engine was active, over its clock,
/// less kRangeOverheadNs. gpu__time_duration, the obvious choice, runs from the opening of the
/// range and so counts what the host did until the kernel began: milliseconds where a kernel is
/// loaded at its first launch. The multiprocessors' own cycles would be exact, but counters of
/// every one of them cost 765 us a range (tests/bench/exact_time, docs/measured.md).
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

/// What the range itself adds to the engine's time around one kernel, so that durations agree
/// with those of kernel records. Measured on an H200; not measured on other chips.
inline constexpr double kRangeOverheadNs = 3100;

/// A host object of CUPTI's profiler and the configuration it made. Not thread-safe.
class MetricConfig {
 public:
  explicit MetricConfig(const CuptiFunctions& cupti) noexcept : cupti_(cupti) {}
  ~MetricConfig();
  MetricConfig(const MetricConfig&) = delete;
  MetricConfig& operator=(const MetricConfig&) = delete;

  /// `chip` as in "GH100"; `availability`: image of what the real device offers, may be empty.
  [[nodiscard]] CUptiResult build(const std::string& chip, std::span<const std::uint8_t> availability,
                                  std::span<const char* const> metrics,
                                  CUpti_ProfilerType type = CUPTI_PROFILER_TYPE_RANGE_PROFILER);

  [[nodiscard]] std::span<const std::uint8_t> image() const noexcept { return image_; }
  [[nodiscard]] std::size_t passes() const noexcept { return passes_; }
  /// As given to build(); the texts are the caller's.
  [[nodiscard]] const std::vector<const char*>& metrics() const noexcept { return metrics_; }
  [[nodiscard]] CUpti_Profiler_Host_Object* host() const noexcept { return host_; }

  /// Values of one range of a decoded counter image, in the order given to build(). An error also
  /// where one of the first `needed` is no number; others may be (a hit rate without accesses).
  [[nodiscard]] CUptiResult evaluate(std::span<const std::uint8_t> counter_data, std::size_t range,
                                     std::span<double> values, std::size_t needed = SIZE_MAX);
  /// Value of metric number `metric` alone.
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
