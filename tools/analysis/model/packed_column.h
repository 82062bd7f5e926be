// SPDX-License-Identifier: Apache-2.0
//
// One column of a chunk: 64-bit values, packed when the chunk is complete.
//
//   put(0, 1000), put(1, 1003), … ─▶ packed(): base 1000, slope 1, 1 byte a value ─▶ values(): 64 bits again
//
// A value is base + slope * row + offset, in as few bytes as the largest offset needs: 0 if all values are
// equal, or ascend by one a row. Values wrap around, so every 64-bit pattern survives. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/analysis/model/column_memory.h"

namespace rangefinder {

class PackedColumn {
 public:
  /// Makes room for rows below `rows`. Rows that no put() sets keep what they had.
  void reserve(std::size_t rows) {
    if (raw_.size() < rows) raw_.resize(rows);
  }
  void put(std::size_t row, std::uint64_t value) noexcept { raw_[row] = value; }

  /// A packed copy of the first `rows` values. `memory` must keep its block as long as the copy is read.
  [[nodiscard]] PackedColumn packed(std::size_t rows, ColumnMemory& memory) const;
  /// `count` values from row `first` on: those of put(), or unpacked into `scratch`, which has room for them.
  [[nodiscard]] const std::uint64_t* values(std::size_t first, std::size_t count,
                                            std::uint64_t* scratch) const noexcept {
    if (!packed_) return raw_.data() + first;
    unpack(first, count, scratch);
    return scratch;
  }
  /// Of the packed values.
  [[nodiscard]] std::size_t packed_bytes(std::size_t rows) const noexcept { return rows * width_; }

 private:
  void unpack(std::size_t first, std::size_t count, std::uint64_t* to) const noexcept;

  std::vector<std::uint64_t> raw_;
  const unsigned char* offsets_ = nullptr;  // width_ bytes a row, and 8 readable bytes more
  std::uint64_t base_ = 0, slope_ = 0;
  unsigned width_ = 0;
  bool packed_ = false;
};

}  // namespace rangefinder
