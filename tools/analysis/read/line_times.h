// SPDX-License-Identifier: Apache-2.0
//
// Start and end of a record of any kind, for readers that refuse lines that end before they start.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "schema/read_line.h"

namespace rangefinder {

/// kNoTime: the record has none.
struct LineTimes {
  TimeNs start_ns = kNoTime, end_ns = kNoTime;
  [[nodiscard]] bool reversed() const noexcept {
    return start_ns != kNoTime && end_ns != kNoTime && end_ns < start_ns;
  }
  [[nodiscard]] std::string refusal(std::string_view kind) const {
    return std::string(kind) + ": ends at " + std::to_string(end_ns) + " ns, before its start at " +
           std::to_string(start_ns) + " ns";
  }
};

template <typename Record>
[[nodiscard]] LineTimes times_of(const Record& record) noexcept {
  if constexpr (requires { record.work.start_ns; }) {
    return {record.work.start_ns, record.work.end_ns};
  } else if constexpr (requires { record.host.start_ns; }) {
    return {record.host.start_ns, record.host.end_ns};
  } else if constexpr (requires { record.launch.host; }) {
    return {record.launch.host.start_ns, record.launch.host.end_ns};
  } else if constexpr (requires { record.start_ns; }) {
    return {record.start_ns, record.end_ns};
  } else {
    return {};
  }
}
[[nodiscard]] inline LineTimes times_of(const Line& line) noexcept {
  return std::visit([](const auto& record) { return times_of(record); }, line);
}

}  // namespace rangefinder
