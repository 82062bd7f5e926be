// SPDX-License-Identifier: Apache-2.0
//
// A side of a comparison as a small file: `diff --save FILE TRACE`, later `diff FILE TRACE`.
//
//   trace ─▶ IterationSeries ─▶ baseline_text ─▶ FILE ─▶ read_baseline ─▶ IterationSeries
//
// Numbers are kept exactly, so a baseline gives the verdicts of its trace. Means and spreads only: some 150
// bytes for each path and quantity, and the name of each path and kernel. The number of iterations does not
// matter. schema/baseline.schema.json describes the format.
#pragma once

#include <filesystem>
#include <string>

#include "tools/analysis/diff/iteration_series.h"

namespace rangefinder {

[[nodiscard]] std::string baseline_text(const IterationSeries& series);

/// Throws Missing for a file that is unreadable, damaged, of another kind or of a newer format.
[[nodiscard]] IterationSeries read_baseline(const std::filesystem::path& file);

}  // namespace rangefinder
