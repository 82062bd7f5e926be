// SPDX-License-Identifier: Apache-2.0
//
// The module table of `rangefinder report`: the tree of paths with time and bytes.
//
//   module                  calls  kernels  GPU time  …  DRAM read  DRAM write  DRAM ±  DRAM rate
//   model                      50   12,500   48.1 ms       12.3 GB     4.10 GB   2.1 %
//     backbone                 50    6,000   20.3 ms        8.1 GB     3.02 GB   2.4 %
//   (outside of any range)                3.10 us
//   (unattributed)                                          41 MB     3.10 MB
//
// Omits columns without measured values. By default rows are in order of first appearance, which for a
// network is the order of its layers.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/module_rows.h"
#include "tools/analysis/queries/row_values.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {

/// What the section `modules` reads of rows.
inline constexpr Columns kModulesColumns = Column::launch_path | Column::launch_thread;

/// Valid values of ModuleView::sort for this table.
[[nodiscard]] const std::vector<std::string>& module_sort_columns();

/// GPU time of all work, inside and outside of ranges. Overlapping kernels count twice.
[[nodiscard]] std::uint64_t all_gpu_ns(const TraceTotals& trace);

/// A row's value of that column, by default its GPU time.
[[nodiscard]] std::uint64_t module_weight(const PathTotals& row, const RowValues& values,
                                          const std::string& sort);

/// `path` or one of its ancestors is in `paths`.
[[nodiscard]] bool is_within(const TraceTotals& trace, const std::unordered_set<std::uint32_t>& paths,
                             std::uint32_t path);

/// Most of its kernels are nodes of graphs that were captured in it: it ran as often as they were replayed.
[[nodiscard]] bool is_replayed(const PathTotals& row) noexcept;

/// Some work was launched in the path or below it.
[[nodiscard]] bool has_work(const PathTotals& row);

/// The rows of a view in display order; row 0 (outside of any range) is last, if it has work.
[[nodiscard]] std::vector<PathTotals> select_modules(const TraceTotals& trace, const RowValues& values,
                                                     const ModuleView& view);

/// The columns of module_rows(), also those without values.
[[nodiscard]] std::vector<TableColumn> module_columns(bool gpm = false);
/// Behind a module's name: "~" unstable, "?" sets are missing, "*" bytes of others; "" for most.
[[nodiscard]] std::string module_signs(const PathTotals& row);

/// The module table, with remarks that explain the signs in it.
[[nodiscard]] Table module_rows(const TraceTotals& trace, const RowValues& values, const ModuleView& view);

}  // namespace rangefinder
