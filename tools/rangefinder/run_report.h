// SPDX-License-Identifier: Apache-2.0
//
// What `run` says once the program has ended: the layer report of each traced process,
// heaviest first, or why there is none.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/attribution/layer_report.h"

namespace rangefinder {

/// Puts what only a whole trace can tell into the summaries of `folders`: sampled bytes, unmixed, and
/// findings. Returns a line for each that was left as it is, with the reason.
[[nodiscard]] std::string complete_summaries(const std::vector<std::filesystem::path>& folders);

/// `folders`: of the manifest. `program`: for the text when there is none.
[[nodiscard]] std::string run_report(const std::vector<std::filesystem::path>& folders,
                                     const std::string& program, const LayerReportStyle& style);

}  // namespace rangefinder
