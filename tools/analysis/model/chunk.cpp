// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/chunk.h"

#include <iterator>

namespace rangefinder {

void Chunk::load(Columns columns) {
  std::apply([columns](auto&... tables) { (tables.load(columns), ...); }, tables_);
}

void Chunk::clear() {
  std::apply([](auto&... tables) { (tables.clear(), ...); }, tables_);
  counts = {};
  others.clear();
  samples.clear();
  values.clear();
  payload_data.clear();
}

Chunk Chunk::packed(Columns columns, ColumnMemory& memory) {
  Chunk out;
  out.counts = std::move(counts);
  out.others = std::move(others);
  if (columns.has(Column::samples)) out.samples = std::move(samples);
  if (columns.has(Column::exact)) out.values = {values.begin(), values.end()};
  if (columns.has(Column::range_payload)) out.payload_data = {payload_data.begin(), payload_data.end()};
  out.names = names;
  memory.begin();
  std::apply([&](const auto&... tables) { out.tables_ = std::make_tuple(tables.packed(columns, memory)...); },
             tables_);
  out.blocks_ = memory.blocks();
  return out;
}

std::size_t Chunk::memory_bytes() const {
  std::size_t sum = sizeof *this + others.size() * sizeof(OtherLine) + values.capacity() * sizeof(double) +
                    payload_data.capacity();
  for (const auto& [number, line] : samples) {
    sum += sizeof line + line.runs.capacity() * sizeof(SampleRun);
    for (const auto& column : line.columns) sum += column.capacity() * sizeof column[0];
  }
  std::apply([&sum](const auto&... tables) { ((sum += tables.memory_bytes()), ...); }, tables_);
  return sum;
}

std::size_t Chunk::add_names(Chunk& other) {
  const std::size_t bytes = other.others.size() * sizeof(OtherLine);
  others.insert(others.end(), std::move_iterator(other.others.begin()),
                std::move_iterator(other.others.end()));
  return bytes;
}

}  // namespace rangefinder
