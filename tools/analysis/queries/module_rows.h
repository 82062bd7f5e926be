// SPDX-License-Identifier: Apache-2.0
//
// Which modules a table shows, in what order and under which names. For tables with one row per path: the
// module table and the table of layers.
//
//   rows with their weight ─▶ select_rows(view) ─▶ positions in display order ─▶ ModuleNames: "    layer/0"
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/analysis/model/trace_totals.h"

namespace rangefinder {

struct ModuleView {
  std::uint64_t top = 0;    ///< number of heaviest paths to show, with their ancestors; 0: all
  std::uint32_t depth = 0;  ///< deepest level shown; 0: all
  std::string sort;         ///< one of the table's sort columns; empty: order of first appearance
  bool flat = false;        ///< full paths in one list, sorted by `sort`, by default by GPU time
  std::unordered_set<std::uint32_t> first = {};  ///< outermost paths that come before others
};

struct WeightedRow {
  std::uint32_t path = 0;  ///< not 0
  std::uint32_t depth = 0;
  std::uint64_t weight = 0;  ///< value of the column `sort`, by default GPU time
};

/// Positions of the rows that the view shows, in display order. In a tree parents come before children.
/// `rows`: in order of first appearance, each path once.
[[nodiscard]] std::vector<std::size_t> select_rows(const TraceTotals& trace,
                                                   const std::vector<WeightedRow>& rows,
                                                   const ModuleView& view);

/// Names of the rows of one table. In a tree they are indented, without what the row above says already.
class ModuleNames {
 public:
  /// `trace` must outlive this.
  ModuleNames(const TraceTotals& trace, std::unordered_set<std::uint32_t> shown, bool flat)
      : trace_(trace), shown_(std::move(shown)), flat_(flat) {}

  /// 0: "(outside of any range)".
  [[nodiscard]] std::string name(std::uint32_t path) const;

 private:
  const TraceTotals& trace_;
  std::unordered_set<std::uint32_t> shown_;
  bool flat_;
};

}  // namespace rangefinder
