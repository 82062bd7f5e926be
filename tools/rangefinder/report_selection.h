// SPDX-License-Identifier: Apache-2.0
//
// Whether a selection of `report` matches anything in a trace.
#pragma once

#include <string>

#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace_totals.h"

namespace rangefinder {

/// The first of --range, --kernel, --iteration-range, --iterations and --window that matches nothing, in a
/// sentence with the nearest names. Empty: each of them matches something. `trace`: read with `selection`.
[[nodiscard]] std::string unmatched_text(const Selection& selection, const TraceTotals& trace);

}  // namespace rangefinder
