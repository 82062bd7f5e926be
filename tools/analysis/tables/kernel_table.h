// SPDX-License-Identifier: Apache-2.0
//
// The kernel table of `rangefinder report --section kernels`: one row a kernel name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/tables/row_values.h"
#include "tools/analysis/tables/table_render.h"
#include "tools/analysis/timeline/occupancy.h"

namespace rangefinder {

struct KernelView {
  std::uint64_t top = 0;  ///< 0: all
  std::string sort;       ///< one of kernel_sort_columns(); empty: total
};

/// Names that KernelView::sort takes.
[[nodiscard]] const std::vector<std::string>& kernel_sort_columns();

/// Where bytes were sampled, they stand in the rows' counters.
[[nodiscard]] std::vector<KernelTotals> select_kernels(const TraceTotals& trace, const RowValues& values,
                                                       const KernelView& view);

/// What is known of a kernel beyond its totals, by its name's id.
struct KernelSpread {
  std::uint64_t median_ns = 0, p95_ns = 0;
  std::optional<Occupancy> occupancy;  ///< of the configuration in which it ran longest
};
using KernelSpreads = std::unordered_map<std::uint32_t, KernelSpread>;

[[nodiscard]] Table kernel_rows(const TraceTotals& trace, const RowValues& values, const KernelView& view,
                                const KernelSpreads& spreads = {});

/// kernel_rows() as text.
[[nodiscard]] std::string kernel_table(const TraceTotals& trace, const RowValues& values,
                                       const KernelView& view, const TextStyle& style);

}  // namespace rangefinder
