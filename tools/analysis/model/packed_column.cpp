// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/packed_column.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace rangefinder {
namespace {

struct Fit {
  std::uint64_t base = 0, slope = 0;
  unsigned width = 0;
};

/// Exact: the width of the range from the least to the largest value.
Fit fit_of_range(const std::uint64_t* values, std::size_t rows, std::uint64_t slope) {
  std::int64_t least = INT64_MAX, most = INT64_MIN;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto offset = static_cast<std::int64_t>(values[i] - slope * i);
    least = std::min(least, offset);
    most = std::max(most, offset);
  }
  const std::uint64_t range = static_cast<std::uint64_t>(most) - static_cast<std::uint64_t>(least);
  return {static_cast<std::uint64_t>(least), slope, static_cast<unsigned>(std::bit_width(range) + 7) / 8};
}

/// The same width, found with operations that the compiler turns into vectors: n bits with a sign are enough
/// for the differences from the first value, and n - 2 without a sign are not.
Fit fit_of(const std::uint64_t* values, std::size_t rows, std::uint64_t slope) {
  const std::uint64_t first = values[0];
  std::uint64_t changes = 0;  // where neighbouring bits of a difference differ
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t difference = values[i] - slope * i - first;
    changes |= difference ^ difference << 1;
  }
  if (changes == 0) return {first, slope, 0};
  const auto bits = static_cast<unsigned>(std::bit_width(changes));
  const unsigned width = (bits + 7) / 8;
  if (width == 8 || (bits + 5) / 8 != width) return fit_of_range(values, rows, slope);
  return {first - (std::uint64_t{1} << (8 * width - 1)), slope, width};
}

Fit best_fit(const std::uint64_t* values, std::size_t rows) {
  const Fit flat = fit_of(values, rows, 0);
  // Values that ascend by one a row, as ids do, end about `rows` above their start.
  if (flat.width < 2 || values[rows - 1] - values[0] > 4 * rows) return flat;
  const Fit rising = fit_of(values, rows, 1);
  return rising.width < flat.width ? rising : flat;
}

template <typename Offset>
void put_offsets(const std::uint64_t* values, std::size_t rows, const Fit& fit, unsigned char* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    const auto offset = static_cast<Offset>(values[i] - fit.slope * i - fit.base);
    std::memcpy(to + i * sizeof(Offset), &offset, sizeof offset);
  }
}

/// Widths that are no type's: writes 8 bytes, of which the next row overwrites the higher ones.
void put_odd_offsets(const std::uint64_t* values, std::size_t rows, const Fit& fit, unsigned char* to) {
  for (std::size_t i = 0; i < rows; ++i, to += fit.width) {
    const std::uint64_t offset = values[i] - fit.slope * i - fit.base;
    std::memcpy(to, &offset, sizeof offset);
  }
}

void put_all(const std::uint64_t* values, std::size_t rows, const Fit& fit, unsigned char* to) {
  switch (fit.width) {
    case 1:
      return put_offsets<std::uint8_t>(values, rows, fit, to);
    case 2:
      return put_offsets<std::uint16_t>(values, rows, fit, to);
    case 4:
      return put_offsets<std::uint32_t>(values, rows, fit, to);
    case 8:
      return put_offsets<std::uint64_t>(values, rows, fit, to);
    default:
      return put_odd_offsets(values, rows, fit, to);
  }
}

template <typename Offset>
void add_offsets(const unsigned char* from, std::size_t count, std::uint64_t base, std::uint64_t slope,
                 std::uint64_t* to) {
  for (std::size_t i = 0; i < count; ++i) {
    Offset offset;
    std::memcpy(&offset, from + i * sizeof(Offset), sizeof(Offset));
    to[i] = base + slope * i + offset;
  }
}

/// Widths that are no type's: reads 8 bytes and drops the higher ones.
void add_odd_offsets(const unsigned char* from, std::size_t count, unsigned width, std::uint64_t base,
                     std::uint64_t slope, std::uint64_t* to) {
  const std::uint64_t mask = (std::uint64_t{1} << (8 * width)) - 1;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t offset;
    std::memcpy(&offset, from + i * width, sizeof offset);
    to[i] = base + slope * i + (offset & mask);
  }
}

}  // namespace

PackedColumn PackedColumn::packed(std::size_t rows, ColumnMemory& memory) const {
  PackedColumn out;
  out.packed_ = true;
  if (rows == 0) return out;
  const Fit fit = best_fit(raw_.data(), rows);
  out.base_ = fit.base;
  out.slope_ = fit.slope;
  out.width_ = fit.width;
  if (fit.width == 0) return out;
  unsigned char* const to = memory.allocate(rows * fit.width + sizeof(std::uint64_t));
  put_all(raw_.data(), rows, fit, to);
  out.offsets_ = to;
  return out;
}

void PackedColumn::unpack(std::size_t first, std::size_t count, std::uint64_t* to) const noexcept {
  const unsigned char* const from = offsets_ + first * width_;
  const std::uint64_t base = base_ + slope_ * first;
  switch (width_) {
    case 0:
      for (std::size_t i = 0; i < count; ++i) to[i] = base + slope_ * i;
      break;
    case 1:
      return add_offsets<std::uint8_t>(from, count, base, slope_, to);
    case 2:
      return add_offsets<std::uint16_t>(from, count, base, slope_, to);
    case 4:
      return add_offsets<std::uint32_t>(from, count, base, slope_, to);
    case 8:
      return add_offsets<std::uint64_t>(from, count, base, slope_, to);
    default:
      return add_odd_offsets(from, count, width_, base, slope_, to);
  }
}

}  // namespace rangefinder
