// SPDX-License-Identifier: Apache-2.0
//
// What `run` prints at the end: the layer report of each traced process, heaviest first, or the reason why
// there is none.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/attribution/layer_report.h"

namespace rangefinder {

/// Completes the summaries in `folders` with results that need the whole trace: unmixed sampled bytes, and
/// findings. Returns a line, with the reason, for each summary that was not changed.
[[nodiscard]] std::string complete_summaries(const std::vector<std::filesystem::path>& folders);

/// `folders`: of the manifest. `program`: named in the message if `folders` is empty.
[[nodiscard]] std::string run_report(const std::vector<std::filesystem::path>& folders,
                                     const std::string& program, const LayerReportStyle& style);

}  // namespace rangefinder
