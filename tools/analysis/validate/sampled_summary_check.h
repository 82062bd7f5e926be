// SPDX-License-Identifier: Apache-2.0
//
// Bytes of hardware samples are conserved: what the samples of the trace hold is what the summary says
// they hold, and that is what its outermost modules, the work outside of any range and nobody got.
//
//   samples lines ─▶ sums ═ summary.samples.all ═ modules of depth 1 + outside + unattributed
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/read/trace_files.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

/// Reads the samples of `trace` once more. `file`: the summary's, for messages. Throws Missing.
void check_sampled_summary(const TraceFolder& trace, const std::string& file, const nlohmann::json& summary,
                           ProblemLog& problems);

}  // namespace rangefinder
