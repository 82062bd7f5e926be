// SPDX-License-Identifier: Apache-2.0
//
// The kernel table of `rangefinder report --section kernels`: one row a kernel name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/module_table.h"
#include "tools/analysis/trace_totals.h"

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

[[nodiscard]] std::string kernel_table(const TraceTotals& trace, const RowValues& values,
                                       const KernelView& view, const TextStyle& style);

}  // namespace rangefinder
