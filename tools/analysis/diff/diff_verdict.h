// SPDX-License-Identifier: Apache-2.0
//
// The answer of a comparison in one line.
//
//   TraceDiff ─▶ "Slower: an iteration takes 48.0 ms instead of 6.00 ms (+700.4 %). Largest change: …"
//
// The wall time of an iteration decides. Without iterations on both sides the line is about modules. The
// largest change is GPU idle or a module, the deepest one that has at least half of its parent's change.
#pragma once

#include <string>

#include "tools/analysis/diff/trace_diff.h"

namespace rangefinder {

struct DiffVerdict {
  std::string result;  ///< "slower", "faster", "same", "too_few" (iterations), "no_iterations"
  std::string text;    ///< one line, without the line feed
};

/// `least`: DiffOptions::least.
[[nodiscard]] DiffVerdict verdict_of(const TraceDiff& diff, const IterationSeries& a,
                                     const IterationSeries& b, double least);

}  // namespace rangefinder
