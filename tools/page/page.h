// SPDX-License-Identifier: Apache-2.0
//
// One or more traces as a self-contained HTML file that needs no network and no server.
//
//   traces ─▶ tables (the numbers of `report --json`) ─┐
//          └▶ timeline (bounded: timeline.h) ──────────┴▶ JSON ─▶ packed text ─▶ page template ─▶ out
//
// The template is the built page, tools/web/dist/page.html; the library embeds it. The page of two traces
// has the result of `diff`. Memory grows with paths, names and the page's data, not with lines.
// page_limits.h bounds the size of the file.
#pragma once

#include <ostream>
#include <vector>

#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

/// Throws Missing if a trace cannot be read.
void write_page(const std::vector<TraceFolder>& traces, std::ostream& out);

}  // namespace rangefinder
