// SPDX-License-Identifier: Apache-2.0
//
// Two kernels of one trace side by side: is the new one faster, and what does it move?
//
//   compare_kernels(trace, "naive", "padded") ─▶ a row a quantity: X, Y, change
//
// A kernel is named by a regular expression that fits exactly one name. Reads the trace once.
#pragma once

#include <string>

#include "tools/analysis/read/trace_files.h"
#include "tools/analysis/tables/table.h"

namespace rangefinder {

/// Throws Missing where a name fits no kernel, or several that differ in more than template arguments,
/// and says which there are.
[[nodiscard]] Table compare_kernels(const TraceFolder& trace, const std::string& x, const std::string& y);

}  // namespace rangefinder
