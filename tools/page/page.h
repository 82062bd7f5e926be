// SPDX-License-Identifier: Apache-2.0
//
// One or more traces as a self-contained HTML file that needs no network and no server.
//
//   traces ─▶ tables (the numbers of `report --json`) ─┐
//          └▶ timeline (bounded: timeline.h) ──────────┴▶ JSON ─▶ packed text ─▶ page template ─▶ out
//
// The template is the built page, tools/web/dist/page.html; the library embeds it. The page of two traces
// has the result of `diff`. A trace stays in memory while its data are made, if --memory allows.
// page_limits.h bounds the size of the file.
#pragma once

#include <ostream>
#include <string_view>
#include <vector>

#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

class WholeTrace;

/// Reads each trace once, one after the other. Throws Missing if one cannot be read.
void write_page(const std::vector<TraceFolder>& traces, std::ostream& out, const ReadLimits& limits = {});
/// Of a trace with kPageColumns (page_data.h).
void write_page(WholeTrace& trace, std::ostream& out);

/// The template without data: tools/web/dist/page.html, embedded when this library was built.
[[nodiscard]] std::string_view page_template() noexcept;

}  // namespace rangefinder
