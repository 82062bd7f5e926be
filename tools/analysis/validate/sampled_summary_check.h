// SPDX-License-Identifier: Apache-2.0
//
// Checks that no sampled byte is lost: the samples' bytes equal those in the summary, and these equal the sum
// over outermost modules, work outside of any range and unattributed bytes.
//
//   samples lines ─▶ sums ═ summary.samples.all ═ modules of depth 1 + outside + unattributed
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/read/trace_files.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

/// Reads the samples of `trace` again. `file`: name of the summary, for messages. Throws Missing.
void check_sampled_summary(const TraceFolder& trace, const std::string& file, const nlohmann::json& summary,
                           ProblemLog& problems);

}  // namespace rangefinder
