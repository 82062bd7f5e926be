// SPDX-License-Identifier: Apache-2.0
//
// Totals as members of JSON objects: one place for the names of the fields and for what
// is left out. The injected library writes summary.json with it, the tools `report --json`
// (schema/README.md, "summary.json").
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profiler/attribution/derived.h"
#include "profiler/attribution/monitor_rates.h"
#include "profiler/attribution/path_totals.h"
#include "schema/record.h"

namespace rangefinder {

/// What a row is seen against.
struct RowContext {
  GpuPeaks peaks;
  const MetricGroups* groups = nullptr;
  std::unordered_map<std::uint32_t, std::vector<MetricValue>> metrics;  ///< TotalsBuilder::path_metrics()

  RowContext(const std::vector<GpuRecord>& gpus, const TotalsBuilder& totals)
      : peaks(common_peaks(gpus)), groups(&totals.groups()), metrics(totals.path_metrics()) {}
  [[nodiscard]] MetricsByName metrics_of(std::uint32_t path) const;
};

/// From "kernels" on; "path", "depth" and "calls" are the caller's.
void add_totals(nlohmann::ordered_json& out, const PathTotals& row, const RowBytes& bytes,
                const RowContext& context);
/// Sums of bytes of a kernel's row; nothing where none was measured.
void add_kernel_counters(nlohmann::ordered_json& out, const CounterTotals& counters);
/// {copies, known_bytes, measured_bytes}; null where there was no such copy.
[[nodiscard]] nlohmann::ordered_json truth_object(const CopyTruth& truth);
/// Rates of one path in monitor mode; its "path" is the caller's.
[[nodiscard]] nlohmann::ordered_json monitor_row(const MonitorRow& row);
/// {windows, window_ns, observed_ns}: what the rows' means are over.
[[nodiscard]] nlohmann::ordered_json monitor_object(const MonitorRates& rates);
/// [{id, name, metrics}] of sets with metrics.
[[nodiscard]] nlohmann::ordered_json metric_sets_array(const MetricGroups& groups);

}  // namespace rangefinder
