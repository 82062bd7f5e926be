// SPDX-License-Identifier: Apache-2.0
//
// Compares two kernels of one trace: time, bytes and launch configuration.
//
//   compare_kernels(trace, "naive", "padded") ─▶ one row per quantity: X, Y, change
//
// A regular expression selects a kernel; it must match exactly one name. Reads the trace once.
#pragma once

#include <string>

#include "tools/analysis/model/trace.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

/// Throws Missing if an expression matches no kernel, or several; the message lists the matching names. A
/// whole name always selects its kernel.
[[nodiscard]] Table compare_kernels(const TraceFolder& files, const std::string& x, const std::string& y,
                                    const ReadLimits& limits = {});

}  // namespace rangefinder
