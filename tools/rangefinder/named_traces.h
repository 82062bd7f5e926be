// SPDX-License-Identifier: Apache-2.0
//
// The traces that the user names: folders of traces, folders with traces below them, files of a trace.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analysis/model/trace_files.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {

/// In the order of the places. A summary.json stands for the trace that it is about. Throws Missing.
[[nodiscard]] std::vector<TraceFolder> named_traces(const std::vector<std::string>& places);

/// Where a report would show more traces than these, and more than the user named, it lists them instead.
inline constexpr std::size_t kMaxUnnamed = 4;

/// For choosing one: folder, program, counters and size of each. Reads their first lines only.
[[nodiscard]] std::string trace_list_text(const std::vector<TraceFolder>& traces, const TextStyle& style);

}  // namespace rangefinder
