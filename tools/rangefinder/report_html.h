// SPDX-License-Identifier: Apache-2.0
//
// `report --html FILE`: writes the page of one or more traces to a file.
//
// Writes a temporary file and renames it, so that FILE is never incomplete. Throws Missing if a trace cannot
// be read or the file cannot be written.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/model/trace.h"
#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

void write_html(const std::vector<TraceFolder>& traces, const std::string& file, const ReadLimits& limits);

}  // namespace rangefinder
