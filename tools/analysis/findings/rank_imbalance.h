// SPDX-License-Identifier: Apache-2.0
//
// What several traces of one program, its ranks, say together: one of them takes longer, and where.
//
// The only finding that needs more than one trace; `report` with several folders asks for it.
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/findings/finding.h"
#include "tools/analysis/read/trace_totals.h"

namespace rangefinder {

struct RankTrace {
  std::string name;                    ///< "rank 3", or the folder
  const TraceTotals* trace = nullptr;  ///< must not be null
};

/// Paths in which GPU time at the path itself differs by more than 10 % between the slowest rank and the
/// median, heaviest first, at most three. Paths that a rank lacks are left out, and calls of NCCL:
/// a rank is long there because it waits. Nothing for fewer than two
/// traces.
[[nodiscard]] std::vector<Finding> find_rank_imbalance(const std::vector<RankTrace>& ranks);

}  // namespace rangefinder
