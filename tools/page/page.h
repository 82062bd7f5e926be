// SPDX-License-Identifier: Apache-2.0
//
// A trace, or several, as one HTML file that needs nothing else: no network, no server.
//
//   traces ─▶ tables (the numbers of `report --json`) ─┐
//          └▶ timeline (bounded: timeline.h) ──────────┴▶ JSON ─▶ packed text ─▶ page template ─▶ out
//
// The template is tools/web/dist/page.html, the built page; it is inside the library. Of two or more
// traces the page shows the difference of two as well. Memory grows with paths, names and what the page
// keeps, not with lines; the size of the file is bounded by the budgets in page_limits.h.
#pragma once

#include <ostream>
#include <vector>

#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

/// Throws Missing where a trace cannot be read.
void write_page(const std::vector<TraceFolder>& traces, std::ostream& out);

}  // namespace rangefinder
