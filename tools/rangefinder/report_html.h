// SPDX-License-Identifier: Apache-2.0
//
// `report --html FILE`: the page of one or more traces as a file.
//
// Written beside its place and renamed, so that a page that is there is whole. Throws Missing where a
// trace cannot be read or the file cannot be written.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

void write_html(const std::vector<TraceFolder>& traces, const std::string& file);

}  // namespace rangefinder
