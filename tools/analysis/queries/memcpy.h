// SPDX-License-Identifier: Apache-2.0
//
// Amounts of copied bytes, as in the tables of `rangefinder report --section memcpy`.
//
// A rate excludes the bytes of copies that have no time.
#pragma once

#include <cstdint>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/queries/duration_histogram.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

struct CopyAmount {
  std::uint64_t count = 0, bytes = 0;
  std::uint64_t timed_bytes = 0;
  DurationHistogram durations;

  void add(const GpuWork& work, std::uint64_t moved, std::uint64_t copies);
};

/// Appends count, bytes, time, rate and sizes.
void add_amount_columns(std::vector<TableColumn>& columns);
void add_amount(std::vector<Cell>& row, const CopyAmount& amount);

}  // namespace rangefinder
