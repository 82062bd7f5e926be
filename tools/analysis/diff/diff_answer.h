// SPDX-License-Identifier: Apache-2.0
//
// The complete result of a comparison: for `diff` and for the page of two traces.
//
//   IterationSeries A, B ─▶ compare ─▶ DiffAnswer ─┬─▶ tables ─▶ text, Markdown, CSV
//                                                  └─▶ json   ─▶ diff --json, report --html
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/analysis/diff/diff_verdict.h"
#include "tools/analysis/diff/trace_diff.h"

namespace rangefinder {

struct DiffAnswer {
  IterationSeries a, b;
  DiffOptions options;
  TraceDiff diff;
  DiffVerdict verdict;
  DiffRatios ratios;
  std::vector<std::string> differences;

  DiffAnswer(IterationSeries of_a, IterationSeries of_b, const DiffOptions& how);

  /// The iteration, modules, kernels, calls outside of iterations if any. `all`: also rows without a change.
  [[nodiscard]] std::vector<Table> tables(bool all) const;
  /// The verdict first, then what is compared, then the tables.
  [[nodiscard]] nlohmann::ordered_json json(const std::vector<Table>& tables) const;
  /// For a comment on a pull request: the verdict, the iteration, modules that changed, differences.
  [[nodiscard]] std::string markdown(std::vector<Table> tables) const;
};

}  // namespace rangefinder
