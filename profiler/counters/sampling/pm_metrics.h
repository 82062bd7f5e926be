// SPDX-License-Identifier: Apache-2.0
//
// Which counters are sampled: as many of the trace's columns as one pass holds.
//
// A column after the other is tried, the most wanted first, and left out where the GPU
// lacks its metric or a second pass would be needed (GetNumOfPasses says so). Host side
// only, so that tests can ask for any chip.
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
  /// One pass over `names`; nullptr where not even one metric could be had: `error` says why not.
  std::unique_ptr<MetricConfig> config;
  std::vector<const char*> names;     ///< CUPTI's, in the order of evaluation
  std::vector<SampleColumn> columns;  ///< of each name
  PmEncoder::Columns collected;       ///< the same as a set
  CUptiResult error = CUPTI_SUCCESS;  ///< of the first metric that was refused
};

/// Counters of every multiprocessor more than double what decoding costs: with 132 of them, 25 us of
/// a core for each sample (H200, docs/measured.md). Shorter intervals go without.
inline constexpr std::uint32_t kSmMinIntervalNs = 50'000;

/// `chip`: as in "GH100". `availability`: what the real device offers, may be empty.
[[nodiscard]] PmMetrics choose_pm_metrics(const CuptiFunctions& cupti, const std::string& chip,
                                          std::span<const std::uint8_t> availability,
                                          std::uint32_t interval_ns);

/// Names of the collected columns, for SamplingRecord.
[[nodiscard]] std::vector<std::string> column_names(const PmEncoder::Columns& collected);

}  // namespace rangefinder
