// SPDX-License-Identifier: Apache-2.0
//
// A record to its line and back, for the tests of the format.
#pragma once

#include <limits>
#include <string>

#include "tests/catch.h"
#include "tests/unit/schema/example_trace.h"

namespace rangefinder::round_trip {

inline constexpr TimeNs kFirst = kNoTime + 1, kLast = std::numeric_limits<TimeNs>::max();

inline Line read_back(LineReader& reader, const std::string& text) {
  Line line;
  INFO(text.substr(0, 400));
  const bool read = reader.read(text, line);
  INFO(reader.error());
  REQUIRE(read);
  return line;
}

inline void check_round_trip(const Line& line) {
  LineReader reader;
  const std::string text = example::text_of(line);
  const Line back = read_back(reader, text);
  CHECK(line_kind(back) == line_kind(line));
  CHECK(back.index() == line.index());
  CHECK(example::text_of(back) == text);
}

template <typename Record>
Record read_as(const Record& record) {
  static LineReader reader;  // views of the result must live
  return std::get<Record>(read_back(reader, example::text_of(record)));
}

}  // namespace rangefinder::round_trip
