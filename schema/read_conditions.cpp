// SPDX-License-Identifier: Apache-2.0
//
// Subject and values of a `condition` line. Mirrors write_conditions.cpp.
#include <algorithm>

#include "schema/line_keys.h"

namespace rangefinder {
namespace {

/// Reasons of later versions are ignored.
std::uint64_t read_reasons(const LineKeys& keys, std::string_view key, simdjson::dom::element element) {
  std::vector<std::string> names;
  keys.read(key, element, names);
  std::uint64_t bits = 0;
  for (const std::string& name : names) {
    const auto* const reason =
        std::find_if(kThrottleReasons.begin(), kThrottleReasons.end(),
                     [&name](const ThrottleReason& known) { return known.name == name; });
    if (reason != kThrottleReasons.end()) bits |= reason->bit;
  }
  return bits;
}

}  // namespace

void condition_fields(const LineKeys& keys, ConditionRecord& record) {
  const bool gpu = keys.has("gpu"), thread = keys.has("thread");
  if (gpu && thread) keys.fail({"\"gpu\" and \"thread\": a line has one subject"});
  record.subject = gpu ? ConditionOf::gpu : thread ? ConditionOf::thread : ConditionOf::process;
  if (gpu) keys.required("gpu", record.id);
  if (thread) keys.required("thread", record.id);
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    const std::string_view key = kConditions[i].key;
    const auto found = keys.find(key);
    if (found.error()) continue;
    std::uint64_t value = 0;
    if (i == static_cast<std::size_t>(Condition::throttle)) {
      value = read_reasons(keys, key, found.value_unsafe());
    } else {
      keys.read(key, found.value_unsafe(), value);
    }
    record.values[i] = value;
  }
}

}  // namespace rangefinder
