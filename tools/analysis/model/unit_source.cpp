// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/unit_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace rangefinder {
namespace {

void make_room(UnitText& unit, std::size_t room) {
  if (room <= unit.room) return;
  auto memory = std::make_unique_for_overwrite<char[]>(room + UnitText::kPadding);
  if (unit.size != 0) std::memcpy(memory.get(), unit.memory.get(), unit.size);
  unit.memory = std::move(memory);
  unit.room = room;
}

/// Behind the last line end; 0: there is none.
std::size_t line_end(const UnitText& unit) {
  const void* const newline = memrchr(unit.memory.get(), '\n', unit.size);
  return newline == nullptr
             ? 0
             : static_cast<std::size_t>(static_cast<const char*>(newline) - unit.memory.get()) + 1;
}

}  // namespace

void UnitSource::next(UnitText& unit) {
  unit.size = 0;
  unit.last = unit.torn = unit.too_long = false;
  make_room(unit, std::min(std::max(unit_bytes_, 2 * rest_.size()), kMaxLineBytes));
  std::copy(rest_.begin(), rest_.end(), unit.memory.get());
  unit.size = rest_.size();
  rest_.clear();
  std::size_t end = 0;
  while (end == 0) {
    while (unit.size < unit.room) {
      const std::size_t got = source_->read(unit.memory.get() + unit.size, unit.room - unit.size);
      unit.size += got;
      if (got != 0) continue;
      unit.last = true;
      break;
    }
    end = unit.last ? unit.size : line_end(unit);
    if (unit.last || end != 0) break;
    unit.too_long = unit.size >= kMaxLineBytes;
    if (unit.too_long) return;
    make_room(unit, std::min(2 * unit.room, kMaxLineBytes));
  }
  if (unit.last) {
    unit.torn = source_->cut() || (unit.size != 0 && unit.memory[unit.size - 1] != '\n');
  } else {
    rest_.assign(unit.memory.get() + end, unit.memory.get() + unit.size);
    unit.size = end;
  }
  std::memset(unit.memory.get() + unit.size, 0, UnitText::kPadding);
}

}  // namespace rangefinder
