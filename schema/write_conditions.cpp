// SPDX-License-Identifier: Apache-2.0
//
// Subject and values of a `condition` line. Mirrors read_conditions.cpp.
#include "schema/line_writer.h"

namespace rangefinder {
namespace {

void append_reasons(std::string& out, std::uint64_t bits) {
  char separator = '[';
  for (const ThrottleReason& reason : kThrottleReasons) {
    if ((bits & reason.bit) == 0) continue;
    out += separator;
    append_json_string(out, reason.name);
    separator = ',';
  }
  if (separator == '[') out += '[';
  out += ']';
}

}  // namespace

void condition_fields(LineWriter& line, const ConditionRecord& record) {
  if (record.subject == ConditionOf::gpu) line.number("gpu", record.id);
  if (record.subject == ConditionOf::thread) line.number("thread", record.id);
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    const std::optional<std::uint64_t>& value = record.values[i];
    if (!value) continue;
    std::string& out = line.open_named(kConditions[i].key);
    if (i == static_cast<std::size_t>(Condition::throttle)) {
      append_reasons(out, *value);
    } else {
      append_json_number(out, *value);
    }
  }
}

}  // namespace rangefinder
