// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "tools/export/chrome_parts.h"

namespace rangefinder {

void ChromeConditions::counter(ChromeRow row, std::size_t condition, TimeNs at_ns, double value) {
  const ConditionInfo& info = kConditions[condition];
  const std::string name = std::string(info.title) + (info.counts ? ", a second" : "");
  context_.events.moment('C', row, "conditions", json_string(name), at_ns);
  std::string& out = context_.events.args() += "{\"value\":";
  append_json_real(out, value);
  out += '}';
  context_.events.close();
}

void ChromeConditions::add(const ConditionRecord& record) {
  constexpr double kNsPerSecond = 1e9;
  if (record.subject == ConditionOf::thread) return;
  const bool gpu = record.subject == ConditionOf::gpu;
  const std::uint32_t pid = gpu ? context_.gpu_pid(record.id) : context_.process.host_pid;
  const ConditionSubject subject{record.subject, record.id};
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    const std::optional<std::uint64_t>& value = record.values[i];
    // Reasons are bits, which no height shows; the clock does.
    if (!value || i == static_cast<std::size_t>(Condition::throttle)) continue;
    if (!kConditions[i].counts) {
      counter({pid, pid}, i, record.at_ns, static_cast<double>(*value));
      continue;
    }
    const auto [at, first] = counts_.try_emplace({subject, i}, Count{record.at_ns, *value});
    Count& before = at->second;
    if (!first && record.at_ns > before.at_ns && *value >= before.value)
      counter({pid, pid}, i, before.at_ns,
              static_cast<double>(*value - before.value) * kNsPerSecond /
                  static_cast<double>(record.at_ns - before.at_ns));
    before = {record.at_ns, *value};
  }
}

}  // namespace rangefinder
