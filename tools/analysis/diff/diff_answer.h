// SPDX-License-Identifier: Apache-2.0
//
// The complete result of a comparison: for `diff` and for the page of two traces.
//
//   IterationSeries A, B ─▶ compare ─▶ DiffAnswer ─┬─▶ diff_tables ─▶ text, Markdown, CSV
//                                                  └─▶ json   ─▶ diff --json, report --html
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/diff/trace_diff.h"

namespace rangefinder {

/// "Slower: an iteration takes 48.0 ms instead of 6.00 ms (+700.4 %). Largest change: …"
struct DiffVerdict {
  /// "slower", "faster", "same", "unclear", "too_few" (iterations), "no_iterations", "other_counters",
  /// "other_program"
  std::string result;
  std::string text;  ///< one line, without the line feed
};

/// How many times as fast B is; above 1: faster.
struct DiffRatios {
  std::optional<double> kernels;     ///< summed durations of the kernels of an iteration, A over B
  std::optional<double> iterations;  ///< throughput: wall time of an iteration, A over B
  /// The first over the ratio of the SM clocks under load; only if these differ by more than 3 %.
  std::optional<double> kernels_per_clock = {};
  /// "Kernels 2.01x as fast, iterations 1.78x as fast."; empty if neither is known.
  [[nodiscard]] std::string text() const;
};

struct DiffAnswer {
  IterationSeries a, b;
  DiffOptions options;
  TraceDiff diff;
  DiffVerdict verdict;
  DiffRatios ratios;
  std::vector<std::string> differences;  ///< "Different GPUs: NVIDIA H100 and NVIDIA H200"

  DiffAnswer(IterationSeries of_a, IterationSeries of_b, const DiffOptions& how);

  /// The verdict first, then what is compared, then the tables.
  [[nodiscard]] nlohmann::ordered_json json(const std::vector<Table>& tables) const;
  /// "Set-ups differ: GPUs NVIDIA H100 and NVIDIA H200; …"; empty: they do not.
  [[nodiscard]] std::string set_ups() const;
  /// What A and B are, two lines or three each.
  [[nodiscard]] std::string sides_text() const;
  /// What the values, ± and verdicts of the tables mean, in lines.
  [[nodiscard]] std::string explanation() const;
  /// B's SM clock under load was lower, by more than 3 %: a sentence; else empty.
  [[nodiscard]] std::string likely_cause() const;
  /// For a comment on a pull request: the verdict, `outcome` of a check if any, how the set-ups differ, the
  /// iteration, modules that changed, those of `failed` first. `tables`: of diff_tables().
  [[nodiscard]] std::string markdown(std::vector<Table> tables, const std::vector<const Change*>& failed,
                                     const std::string& outcome) const;
};

}  // namespace rangefinder
