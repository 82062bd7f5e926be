// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/condition_changes.h"

#include "profiler/conditions/condition_value.h"

namespace rangefinder {

ConditionChanges::Subject* ConditionChanges::find_or_add(ConditionOf subject, std::uint32_t id) noexcept {
  for (Subject& known : subjects_) {
    if (known.subject == subject && known.id == id) return &known;
  }
  if (subjects_.size() == kMaxSubjects) return nullptr;
  return &subjects_.emplace_back(Subject{subject, id, {}});
}

std::optional<ConditionRecord> ConditionChanges::add(TimeNs at_ns, ConditionOf subject, std::uint32_t id,
                                                     const ConditionValues& values) noexcept {
  Subject* const known = find_or_add(subject, id);
  if (known == nullptr) return std::nullopt;
  ConditionRecord record{at_ns, subject, id, {}};
  bool changed = false;
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    if (!values[i] || (known->written[i] && !is_change(i, *known->written[i], *values[i]))) continue;
    record.values[i] = known->written[i] = values[i];
    changed = true;
  }
  if (!changed) return std::nullopt;
  return record;
}

}  // namespace rangefinder
