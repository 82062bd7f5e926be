// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/condition_totals.h"

namespace rangefinder {

std::map<std::string_view, std::uint64_t> throttle_times_ns(const HeldValues& throttle) {
  std::map<std::string_view, std::uint64_t> out;
  for (const auto& [bits, ns] : throttle.times_ns()) {
    for (const ThrottleReason& reason : kThrottleReasons) {
      if ((bits & reason.bit) != 0) out[reason.name] += ns;
    }
  }
  return out;
}

void ConditionTotals::add(const ConditionRecord& record) {
  const ConditionSubject subject{record.subject, record.id};
  auto at = subjects_.find(subject);
  if (at == subjects_.end()) {
    if (subjects_.size() == kMaxSubjects) return;
    at = subjects_.try_emplace(subject).first;
  }
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    const std::optional<std::uint64_t>& value = record.values[i];
    if (!value) continue;
    if (kConditions[i].counts) {
      at->second[i].count(*value);
    } else {
      at->second[i].set(record.at_ns, *value);
    }
  }
}

void ConditionTotals::end(TimeNs at_ns) {
  for (auto& [subject, values] : subjects_) {
    for (std::size_t i = 0; i < kConditionCount; ++i) {
      if (!kConditions[i].counts) values[i].end(at_ns);
    }
  }
}

}  // namespace rangefinder
