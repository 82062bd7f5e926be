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

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/hints.h"
#include "tools/analysis/queries/module_table.h"
#include "tools/analysis/queries/row_values.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

/// DRAM bytes of several rows in one cell: the two passes of a layer, the paths of `--total`. The rows do not
/// contain each other. A row with work but without bytes makes the sum a lower bound.
struct SummedBytes {
  void add(const PathTotals& row, const RowValues& values);

  /// Of sampled bytes, which alone have a bound that decides whether they are shown.
  [[nodiscard]] BoundedText text() const;
  [[nodiscard]] bool lacks_number() const { return measured && text().value == kNoNumber; }
  [[nodiscard]] bool marked() const { return marks_carry_over(carry_over, dram); }
  /// Bytes, with signs; empty if nothing was measured.
  [[nodiscard]] Cell dram_cell() const;
  /// Percent; empty except for sampled bytes.
  [[nodiscard]] Cell bound_cell() const;

  bool measured = false, partial = false, split = false, estimated = false;
  bool sampled = false;  ///< with a bound: samples of the hardware, or NVML's GPM
  bool gpm = false;
  bool has_bound = true;
  std::uint64_t dram = 0;
  std::optional<std::uint64_t> carry_over;
  double bound = 0;
  const char* reason = kTooShort;
  SampleNeed need;  ///< set for sampled bytes
};

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
