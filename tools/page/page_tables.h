// SPDX-License-Identifier: Apache-2.0
//
// The page's tables as JSON: the rows of `report --json`, and breakdowns of kernels and copies.
//
// The report's own functions make the rows of modules and kernels, so the numbers are equal. Rows beyond a
// limit are omitted, lightest first, and counted in "left_out". CUPTI's counters have five digits.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/queries/section.h"
#include "tools/page/page_counts.h"
#include "tools/page/page_indices.h"

namespace rangefinder {

/// `input`: as of a section; its view is not used. Also fills `indices`.
[[nodiscard]] nlohmann::ordered_json page_tables(const SectionInput& input, const RunSummary& run,
                                                 PageCounts& counts, const PageLimits& limits,
                                                 PageIndices& indices);

/// The named metrics that a row of `traces`, an array of page_tables(), has: rows hold only names and values.
[[nodiscard]] nlohmann::ordered_json named_metrics_json(const nlohmann::ordered_json& traces);
/// The topics of all named metrics: the sets that measure them.
[[nodiscard]] nlohmann::ordered_json metric_topics_json();

}  // namespace rangefinder
