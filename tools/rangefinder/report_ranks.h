// SPDX-License-Identifier: Apache-2.0
//
// What several traces, the ranks of a job, say together: who is slow, where, and whether it matters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tools/analysis/findings/rank_imbalance.h"
#include "tools/analysis/rank_merge.h"
#include "tools/analysis/table_render.h"

namespace rangefinder {

class RankReport {
 public:
  /// `trace` must outlive this.
  void add(const TraceTotals& trace);
  /// "ranks", "merged", "rank_findings". `depth`: deepest level of modules, 0: all.
  void put(nlohmann::ordered_json& out, std::uint32_t depth) const;
  [[nodiscard]] std::string text(const TextStyle& style, std::uint32_t depth) const;

 private:
  RankMerge merge_;
  std::vector<RankTrace> traces_;
};

}  // namespace rangefinder
