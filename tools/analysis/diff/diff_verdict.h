// SPDX-License-Identifier: Apache-2.0
//
// The answer of a comparison in one line, and what makes two traces hard to compare.
//
//   TraceDiff ─▶ "Slower: an iteration takes 48.0 ms instead of 6.00 ms (+700.4 %). Largest change: …"
//
// The wall time of an iteration decides. Without iterations on both sides the line is about modules. The
// largest change is GPU idle or a module, the deepest one that has at least half of its parent's change.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/diff/trace_diff.h"

namespace rangefinder {

struct DiffVerdict {
  std::string result;  ///< "slower", "faster", "same", "unclear", "too_few" (iterations), "no_iterations"
  std::string text;    ///< one line, without the line feed
};

/// `least`: DiffOptions::least.
[[nodiscard]] DiffVerdict verdict_of(const TraceDiff& diff, const IterationSeries& a,
                                     const IterationSeries& b, double least);

/// How many times as fast B is; above 1: faster.
struct DiffRatios {
  std::optional<double> kernels;     ///< summed durations of the kernels of an iteration, A over B
  std::optional<double> iterations;  ///< throughput: wall time of an iteration, A over B
  /// "Kernels 2.01x as fast, iterations 1.78x as fast."; empty if neither is known.
  [[nodiscard]] std::string text() const;
};

/// Unknown without iterations on both sides. A kernel that has another name in B counts like any other.
[[nodiscard]] DiffRatios ratios_of(const TraceDiff& diff, const IterationSeries& a, const IterationSeries& b);

/// A line for each: program, arguments, GPU, driver, counters, monitor mode, iterations, if they differ:
/// "Different GPUs: NVIDIA H100 and NVIDIA H200".
[[nodiscard]] std::vector<std::string> differences_of(const IterationSeries& a, const IterationSeries& b);

}  // namespace rangefinder
