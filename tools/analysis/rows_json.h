// SPDX-License-Identifier: Apache-2.0
//
// Totals as the objects that summary.json and `report --json` hold: one place for the
// names of the fields and for what is left out (schema/README.md, "summary.json").
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "profiler/attribution/path_totals.h"
#include "tools/analysis/trace_totals.h"

namespace rangefinder {

/// Row 0 (outside of any range) has no "path", "depth" and "calls".
[[nodiscard]] nlohmann::ordered_json module_row(const PathTotals& row, const std::string& path);
[[nodiscard]] nlohmann::ordered_json kernel_row(const KernelTotals& row, const KernelNameRecord* name);
[[nodiscard]] nlohmann::ordered_json copy_row(const MemcpyTotals& row);
/// {cause: n} of what happened.
[[nodiscard]] nlohmann::ordered_json loss_object(const std::array<std::uint64_t, kLossCauses.size()>& loss);
[[nodiscard]] nlohmann::ordered_json gpu_object(const GpuRecord& gpu);
[[nodiscard]] nlohmann::ordered_json process_object(const Header& header);

/// JSON as text: what is not UTF-8 becomes U+FFFD instead of an exception.
[[nodiscard]] std::string dump_json(const nlohmann::ordered_json& value);

}  // namespace rangefinder
