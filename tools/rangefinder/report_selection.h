// SPDX-License-Identifier: Apache-2.0
//
// Whether a selection of `report` matches anything in a trace, and --sort a column.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {

/// The first of --range, --kernel, --iteration-range, --iterations and --window that matches nothing, in a
/// sentence with the nearest names. Empty: each of them matches something. `trace`: read with `selection`.
[[nodiscard]] std::string unmatched_text(const Selection& selection, const TraceTotals& trace);

/// Tells on stderr that no kernel of the trace is one that --communication names.
void tell_unused_communication(const TraceTotals& trace);

/// Throws WrongUse with the keys of the section, if it has sort_keys() and `sort` is none of them. Empty: the
/// section's own order.
void check_sort(const std::string& sort, const std::string& section, const Section& of);
/// The same for sections without sort_keys(): the keys of their tables, which exist only after reading.
void check_sort(const std::string& sort, const std::string& section, const std::vector<Table>& tables);

}  // namespace rangefinder
