// SPDX-License-Identifier: Apache-2.0
//
// Forward and backward pass of a module in one row: `report --section layers`.
//
//   step/bert/encoder/layer/0            forward pass  ─┐
//   step/backward/bert/encoder/layer/0   backward pass ─┴▶ one row, named step/bert/encoder/layer/0
//
// The path of a backward pass is that of the module with one more level, `backward`, as the PyTorch hooks
// name it (tools/python). It joins only the path with the same ancestors, or the one with a level `forward`
// in that place, as programs name it: step/forward/bert, step/backward/bert. A module below a joined one is a
// row too, without a backward pass. The numbers are those of the two rows of the module table, and their
// sums.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/table/table.h"
#include "tools/analysis/tables/module_rows.h"
#include "tools/analysis/tables/row_values.h"

namespace rangefinder {

struct Layer {
  PathTotals forward;
  std::optional<PathTotals> backward;
};

/// A level of the path, or the path itself, is named `backward`.
[[nodiscard]] bool in_backward(const TraceTotals& trace, std::uint32_t path);

/// In order of first appearance; empty if no backward pass joins a forward pass. --range selects a layer by
/// its forward pass.
[[nodiscard]] std::vector<Layer> joined_layers(const TraceTotals& trace);

/// Valid values of ModuleView::sort for this table: those of modules, of both passes, and each pass.
[[nodiscard]] const std::vector<std::string>& layer_sort_columns();

[[nodiscard]] Table layer_table(const TraceTotals& trace, const RowValues& values, const ModuleView& view);

}  // namespace rangefinder
