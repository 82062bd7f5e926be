// SPDX-License-Identifier: Apache-2.0
//
// Writes totals as members of JSON objects, and as rows of the layer report. The only place that decides
// field names and which fields are omitted. The injected library uses it for summary.json, the tools for
// `report --json` (schema/README.md, "summary.json").
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "profiler/attribution/condition_totals.h"
#include "profiler/attribution/derived.h"
#include "profiler/attribution/layer_report.h"
#include "profiler/attribution/monitor_rates.h"
#include "profiler/attribution/named_values.h"
#include "profiler/attribution/path_totals.h"
#include "schema/record.h"

namespace rangefinder {

/// Context of a row: the peaks, and the metrics of its path.
struct RowContext {
  GpuPeaks peaks;
  const MetricGroups* groups = nullptr;
  std::unordered_map<std::uint32_t, std::vector<MetricValue>> metrics;  ///< TotalsBuilder::path_metrics()

  RowContext(const std::vector<GpuRecord>& gpus, const TotalsBuilder& totals)
      : peaks(common_peaks(gpus)), groups(&totals.groups()), metrics(totals.path_metrics()) {}
  [[nodiscard]] MetricsByName metrics_of(std::uint32_t path) const;
};

/// Adds the fields from "kernels" on. The caller adds "path", "depth" and "calls".
void add_totals(nlohmann::ordered_json& out, const PathTotals& row, const RowBytes& bytes,
                const RowContext& context);
/// Adds "named": {name: value} of named metrics; nothing if none is known. The busiest part of a throughput
/// is in NAME_part.
void add_named(nlohmann::ordered_json& out, const NamedValues& values);
/// The same values, as rounded there. The caller adds "path".
[[nodiscard]] LayerRow layer_row(const PathTotals& row, const RowBytes& bytes, const RowContext& context);
/// Adds the bytes of a kernel's row, exact or sampled; none if nothing was measured.
void add_kernel_bytes(nlohmann::ordered_json& out, const KernelTotals& kernel, const RowBytes& bytes);
/// {copies, known_bytes, measured_bytes}; null without such copies.
[[nodiscard]] nlohmann::ordered_json truth_object(const CopyTruth& truth);
/// Rates of one path in monitor mode. The caller adds "path".
[[nodiscard]] nlohmann::ordered_json monitor_row(const MonitorRow& row);
/// {windows, window_ns, observed_ns}: the basis of the rows' means.
[[nodiscard]] nlohmann::ordered_json monitor_object(const MonitorRates& rates);
/// {"gpus": [{"gpu":0, "sm_mhz": {"min", "median", "max"}, …, "throttle_ms": {REASON: ms}}], "process": {…},
/// "threads": [{"thread":4712, "cpu_ms":990}]}. Counts are their growth. The 32 busiest threads. null:
/// nothing was recorded.
[[nodiscard]] nlohmann::ordered_json conditions_object(const ConditionTotals& conditions);
/// [{id, name, metrics}] for sets with metrics.
[[nodiscard]] nlohmann::ordered_json metric_sets_array(const MetricGroups& groups);

}  // namespace rangefinder
