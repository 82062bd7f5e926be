// SPDX-License-Identifier: Apache-2.0
//
// The kernel table of `rangefinder report --section kernels`: one row per kernel name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/analysis/model/columns.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/occupancy.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {

/// What the section `kernels` reads of rows.
inline constexpr Columns kKernelsColumns =
    Column::work_times | Column::work_place | Column::work_name | Column::work_config;

/// Valid values of SectionView::sort.
[[nodiscard]] const std::vector<std::string>& kernel_sort_columns();

[[nodiscard]] std::vector<KernelTotals> select_kernels(const TraceTotals& trace, const RowValues& values,
                                                       const SectionView& view);

/// Values of a kernel that its totals do not have, by the id of its name.
struct KernelSpread {
  std::uint64_t median_ns = 0, p95_ns = 0;
  std::optional<Occupancy> occupancy;  ///< of the configuration with the longest total time
};
using KernelSpreads = std::unordered_map<std::uint32_t, KernelSpread>;

/// The columns of kernel_rows(), also those without values.
[[nodiscard]] std::vector<TableColumn> kernel_columns();
/// The last of the remarks of kernel_rows().
inline constexpr const char* kShortNamesRemark =
    "Names without namespaces and what they share; --json has them in full.\n";
[[nodiscard]] Table kernel_rows(const TraceTotals& trace, const RowValues& values, const SectionView& view,
                                const KernelSpreads& spreads = {});

}  // namespace rangefinder
