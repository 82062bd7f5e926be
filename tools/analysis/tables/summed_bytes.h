// SPDX-License-Identifier: Apache-2.0
//
// DRAM bytes of several disjoint rows in one cell: the two passes of a layer, the paths of `--total`.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/analysis/table/table.h"
#include "tools/analysis/tables/module_table.h"
#include "tools/analysis/tables/row_values.h"

namespace rangefinder {

/// Sums of rows that do not contain each other. A row with work but without bytes makes the sum a lower
/// bound.
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

  bool measured = false, partial = false, split = false, estimated = false, sampled = false;
  bool bound_known = true;
  std::uint64_t dram = 0;
  std::optional<std::uint64_t> carry_over;
  double bound = 0;
  const char* reason = kTooShort;
};

}  // namespace rangefinder
