// SPDX-License-Identifier: Apache-2.0
//
// Compares the traces of several ranks of one program: which rank takes longer, and in which path.
//
// The only finding that needs more than one trace. `report` with several folders shows it.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/findings/finding.h"
#include "tools/analysis/model/trace_totals.h"

namespace rangefinder {

struct RankTrace {
  std::string name;                    ///< "rank 3", or the folder
  const TraceTotals* trace = nullptr;  ///< must not be null
};

/// Paths in which the slowest rank's exclusive GPU time exceeds the median by more than 10 %; largest excess
/// first, at most three. Excludes paths that a rank lacks, and NCCL calls: a rank is long there because it
/// waits. Empty for fewer than two traces.
[[nodiscard]] std::vector<Finding> find_rank_imbalance(const std::vector<RankTrace>& ranks);

}  // namespace rangefinder
