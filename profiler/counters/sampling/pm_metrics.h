// SPDX-License-Identifier: Apache-2.0
//
// Chooses the sampled counters: as many of the trace's columns as fit in one pass.
//
// Columns are tried one by one, most important first. One is omitted if the GPU lacks its
// metric or GetNumOfPasses reports a second pass. Host side only, so tests can use any
// chip.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "profiler/counters/metrics/metric_config.h"
#include "profiler/counters/sampling/pm_encoder.h"

namespace rangefinder {

struct PmMetrics {
  /// One pass over `names`; nullptr if no metric is available: see `error`.
  std::unique_ptr<MetricConfig> config;
  std::vector<const char*> names;     ///< CUPTI's names, in evaluation order
  std::vector<SampleColumn> columns;  ///< of each name
  PmEncoder::Columns collected;       ///< `columns` as a set
  CUptiResult error = CUPTI_SUCCESS;  ///< of the first metric that was refused
};

/// Counters of every multiprocessor more than double the cost of decoding: with 132 of them, 25 us of a
/// core per sample (H200). Shorter intervals omit them.
inline constexpr std::uint32_t kSmMinIntervalNs = 50'000;

/// `chip`: for example "GH100". `availability`: the device's counter availability image; may be empty.
[[nodiscard]] PmMetrics choose_pm_metrics(const CuptiFunctions& cupti, const std::string& chip,
                                          std::span<const std::uint8_t> availability,
                                          std::uint32_t interval_ns);

/// Names of the collected columns, for SamplingRecord.
[[nodiscard]] std::vector<std::string> column_names(const PmEncoder::Columns& collected);

}  // namespace rangefinder
