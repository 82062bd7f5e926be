// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/tables/summed_bytes.h"

#include "tools/analysis/tables/cells.h"

namespace rangefinder {

void SummedBytes::add(const PathTotals& row, const RowValues& values) {
  const RowBytes bytes = values.bytes(row);
  if (bytes.source == RowBytes::Source::none) {
    partial |= has_work(row);
    return;
  }
  measured = true;
  dram += bytes.dram();
  partial |= bytes.partial() || bytes.partly_sampled();
  split |= bytes.split;
  estimated |= bytes.estimated;
  if (bytes.inseparable != 0) reason = kInseparable;
  if (bytes.carry_over) carry_over = carry_over.value_or(0) + *bytes.carry_over;
  if (bytes.source != RowBytes::Source::sampled) return;
  sampled = true;
  bound_known &= bytes.read_error && bytes.write_error;
  if (bound_known) bound += *bytes.read_error + *bytes.write_error;
}

BoundedText SummedBytes::text() const {
  return bounded_text(dram, sampled && bound_known ? std::optional(bound) : std::nullopt, reason);
}

Cell SummedBytes::dram_cell() const {
  if (!measured) return {};
  Cell out = number_cell(dram);
  if (lacks_number()) {
    out.shown = kNoNumber;
  } else if (partial) {
    out.sign = "+";
  }
  if (split) out.sign += "÷";
  if (marked()) out.sign += kCarryOverMark;
  return out;
}

Cell SummedBytes::bound_cell() const {
  if (!sampled || !bound_known || dram == 0) return {};
  return Cell(CellValue(100 * bound / static_cast<double>(dram)), text().error);
}

}  // namespace rangefinder
