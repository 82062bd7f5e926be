// SPDX-License-Identifier: Apache-2.0
//
// What `run` prints at the end: the layer report of each traced process, heaviest first, or the reason why
// there is none.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/attribution/layer_report.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {

/// Of the traces of a run.
struct CompletedSummaries {
  std::string messages;  ///< a line, with the reason, for each summary that was not changed
  struct FirstScreen {
    std::string opening, next_step;  ///< what `report` begins and ends with; empty: not read
  };
  std::vector<FirstScreen> screens;  ///< by folder
};

/// Completes the summaries in `folders` with results that need the whole trace: unmixed sampled bytes, and
/// findings. Reads each trace once. `style`: of `screens`; nullptr: none is needed.
[[nodiscard]] CompletedSummaries complete_summaries(const std::vector<std::filesystem::path>& folders,
                                                    const TextStyle* style);

/// `folders`: of the manifest. `program`: named in the message if `folders` is empty.
[[nodiscard]] std::string run_report(const std::vector<std::filesystem::path>& folders,
                                     const CompletedSummaries& completed, const std::string& program,
                                     const LayerReportStyle& style);

}  // namespace rangefinder
