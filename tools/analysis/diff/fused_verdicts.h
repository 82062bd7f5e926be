// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tools/analysis/diff/trace_diff.h"

namespace rangefinder {

/// Verdict::fused for modules that only one trace has in kernels fused over several, unless their verdict
/// holds however much of those kernels is theirs. `modules`: rows of compare(), with their verdicts.
void judge_fused(std::vector<Change>& modules, const IterationSeries& a, const IterationSeries& b,
                 double least);

}  // namespace rangefinder
