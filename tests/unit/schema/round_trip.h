// SPDX-License-Identifier: Apache-2.0
//
// Writes a record and reads it back, for the tests of the format.
#pragma once

#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "tests/catch.h"
#include "tests/unit/schema/example_trace.h"

namespace rangefinder::round_trip {

inline constexpr TimeNs kFirst = -kMaxNs, kLast = kMaxNs;

inline Line read_back(LineReader& reader, const std::string& text) {
  Line line;
  INFO(text.substr(0, 400));
  const bool read = reader.read(text, line);
  INFO(reader.error());
  REQUIRE(read);
  return line;
}

/// Only GPU work may have no times, and only a range may have no end.
template <typename Record>
Record with_times(Record record) {
  const auto mend = [](TimeNs& time) { time = time == kNoTime ? 0 : time; };
  if constexpr (requires { record.host.start_ns; }) {
    mend(record.host.start_ns), mend(record.host.end_ns);
  } else if constexpr (requires { record.launch.host; }) {
    mend(record.launch.host.start_ns), mend(record.launch.host.end_ns);
  } else if constexpr (std::is_same_v<Record, OverheadRecord>) {
    mend(record.start_ns), mend(record.end_ns);
  } else if constexpr (std::is_same_v<Record, RangeRecord>) {
    mend(record.start_ns);
  }
  return record;
}

inline void check_round_trip(Line line) {
  line = std::visit([](auto record) { return Line(with_times(std::move(record))); }, std::move(line));
  LineReader reader;
  const std::string text = example::text_of(line);
  const Line back = read_back(reader, text);
  CHECK(line_kind(back) == line_kind(line));
  CHECK(back.index() == line.index());
  CHECK(example::text_of(back) == text);
}

template <typename Record>
Record read_as(const Record& record) {
  static LineReader reader;  // keeps the views of the result valid
  return std::get<Record>(read_back(reader, example::text_of(with_times(record))));
}

}  // namespace rangefinder::round_trip
