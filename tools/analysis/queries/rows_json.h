// SPDX-License-Identifier: Apache-2.0
//
// Totals as JSON objects for `report --json`, with the keys of summary.json
// (profiler/attribution/totals_json.h, schema/README.md).
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "profiler/attribution/path_totals.h"
#include "tools/analysis/model/module_sources.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/row_values.h"

namespace rangefinder {

/// Row 0 (outside of any range) has no "path", "depth" or "calls". With source lines.
[[nodiscard]] nlohmann::ordered_json module_row(const PathTotals& row, const TraceNames& trace,
                                                const RowValues& values);
/// {class_source, call_source}, those that are known.
void add_source(nlohmann::ordered_json& row, const SourceLines& source);
[[nodiscard]] nlohmann::ordered_json kernel_row(const KernelTotals& row, const KernelNameRecord* name,
                                                const RowValues& values);
/// Sampled bytes, the unattributed ones among them, and the attribution method.
[[nodiscard]] nlohmann::ordered_json samples_object(const TraceTotals& trace, const SampledTotals& sampled);
[[nodiscard]] nlohmann::ordered_json copy_row(const MemcpyTotals& row);
/// {cause: n}, for causes with n > 0.
[[nodiscard]] nlohmann::ordered_json loss_object(const std::array<std::uint64_t, kLossCauses.size()>& loss);
[[nodiscard]] nlohmann::ordered_json gpu_object(const GpuRecord& gpu);
[[nodiscard]] nlohmann::ordered_json process_object(const Header& header);

/// JSON as text. Replaces invalid UTF-8 by U+FFFD instead of throwing.
[[nodiscard]] std::string dump_json(const nlohmann::ordered_json& value);
/// The same on one line.
[[nodiscard]] std::string compact_json(const nlohmann::ordered_json& value);

}  // namespace rangefinder
