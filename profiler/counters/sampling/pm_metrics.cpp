// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_metrics.h"

#include <array>
#include <utility>

namespace rangefinder {
namespace {

struct Candidate {
  SampleColumn column;
  const char* metric;
};

// Most important first.
constexpr std::array kCandidates{
    Candidate{kSampleDramRead, "dram__bytes_read.sum"},
    Candidate{kSampleDramWrite, "dram__bytes_write.sum"},
    Candidate{kSampleL2, "lts__t_bytes.sum"},
    Candidate{kSampleEngineActive, "gr__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Candidate{kSampleSmActive, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed"},
    Candidate{kSamplePcieRead, "pcie__read_bytes.sum"},
    Candidate{kSamplePcieWrite, "pcie__write_bytes.sum"},
    Candidate{kSampleNvlinkReceived, "nvlrx__bytes.sum"},
    Candidate{kSampleNvlinkTransmitted, "nvltx__bytes.sum"},
};

}  // namespace

PmMetrics choose_pm_metrics(const CuptiFunctions& cupti, const std::string& chip,
                            std::span<const std::uint8_t> availability, std::uint32_t interval_ns) {
  PmMetrics chosen;
  for (const Candidate& candidate : kCandidates) {
    if (candidate.column == kSampleSmActive && interval_ns < kSmMinIntervalNs) continue;
    std::vector<const char*> names = chosen.names;
    names.push_back(candidate.metric);
    // A new object each time: a host object that has refused a metric must not be reused.
    auto config = std::make_unique<MetricConfig>(cupti);
    const CUptiResult result = config->build(chip, availability, names, CUPTI_PROFILER_TYPE_PM_SAMPLING);
    if (result != CUPTI_SUCCESS || config->passes() != 1) {
      if (chosen.error == CUPTI_SUCCESS)
        chosen.error = result != CUPTI_SUCCESS ? result : CUPTI_ERROR_NOT_SUPPORTED;
      continue;
    }
    chosen.config = std::move(config);
    chosen.names = std::move(names);
    chosen.columns.push_back(candidate.column);
    chosen.collected.set(candidate.column);
  }
  return chosen;
}

std::vector<std::string> column_names(const PmEncoder::Columns& collected) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kSampleColumns; ++i) {
    if (collected[i]) names.emplace_back(kSampleColumnNames[i]);
  }
  return names;
}

}  // namespace rangefinder
