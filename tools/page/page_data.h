// SPDX-License-Identifier: Apache-2.0
//
// The data of one trace in a page: tables and timeline.
//
//   chunks ─▶ PageCounts ─▶ tables
//                └▶ what to keep ─▶ chunks, again ─▶ Timeline ─▶ timeline
#pragma once

#include <nlohmann/json.hpp>

#include "tools/analysis/findings/facts.h"
#include "tools/analysis/queries/idle_causes.h"
#include "tools/analysis/queries/whole_trace.h"
#include "tools/page/page_counts.h"
#include "tools/page/page_indices.h"
#include "tools/page/page_overview.h"
#include "tools/page/timeline.h"

namespace rangefinder {

inline constexpr Columns kPageColumns = PageCounts::kColumns | Timeline::kColumns | FindingFacts::kColumns |
                                        IdleCauses::kColumns | TotalsFold::kColumns | PageOverview::kColumns;

struct PageData {
  nlohmann::ordered_json tables, timeline;
};

/// Columns of integers, with delta-encoded times so that they compress well. tools/web/src/data/timeline.ts
/// reads it.
[[nodiscard]] nlohmann::ordered_json page_timeline(Timeline& timeline, const TraceTotals& trace,
                                                   const PageCounts& counts, const PageIndices& indices,
                                                   const PageLimits& limits);

/// `trace`: with kPageColumns.
[[nodiscard]] PageData page_data(WholeTrace& trace, const PageLimits& limits);

}  // namespace rangefinder
