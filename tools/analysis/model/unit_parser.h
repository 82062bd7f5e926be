// SPDX-License-Identifier: Apache-2.0
//
// Reads the lines of a unit into the tables of a chunk.
//
//   text ─▶ scan_line() ─┬─▶ rows of the columns that are loaded
//             └ LineReader ─▶ other lines, and lines in another form than the writer's
//
// Views in Chunk::others are valid as long as the parser. One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "schema/read_line.h"
#include "schema/scan_line.h"
#include "tools/analysis/model/chunk.h"
#include "tools/analysis/model/unit_source.h"

namespace rangefinder {

class UnitParser {
 public:
  explicit UnitParser(RowNames& names) : names_(names) {}
  UnitParser(const UnitParser&) = delete;
  UnitParser& operator=(const UnitParser&) = delete;

  /// The columns that it fills.
  void load(Columns columns) { columns_ = columns; }
  /// `chunk` is empty and has loaded the same columns.
  void parse(const UnitText& unit, Chunk& chunk);

 private:
  class Sink;
  /// Calls are of few functions: caches their numbers.
  struct NumberOf {
    RowNames& names;
    struct CachedNumber {
      const char* text = nullptr;
      std::uint32_t number = 0;
    };
    std::array<CachedNumber, 16> cache{};
    std::uint32_t operator()(std::string_view text);
  };

  RowNames& names_;
  Columns columns_;
  NumberOf number_of_{names_};
  TextPool texts_;
  LineReader reader_;
  Line line_;
};

}  // namespace rangefinder
