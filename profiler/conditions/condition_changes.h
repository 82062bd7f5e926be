// SPDX-License-Identifier: Apache-2.0
//
// Reduces readings to what has changed since the last record of the same subject.
//
//   reading  sm_mhz 1980  power_w 351  ─▶  sm_mhz 1980  power_w 351
//   reading  sm_mhz 1980  power_w 352  ─▶  nothing: one watt is less than ConditionInfo::least
//   reading  sm_mhz 1725  power_w 353  ─▶  sm_mhz 1725  power_w 353
//
// A value that becomes absent is not written: the schema has no way to say so. Not for threads, of which
// there are too many (thread_conditions.h). One thread at a time. No allocation after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "schema/condition_record.h"

namespace rangefinder {

class ConditionChanges {
 public:
  /// Subjects beyond that have no records.
  static constexpr std::size_t kMaxSubjects = 128;

  ConditionChanges() { subjects_.reserve(kMaxSubjects); }

  /// The record to write for a reading; nothing if no value has changed enough.
  [[nodiscard]] std::optional<ConditionRecord> add(TimeNs at_ns, ConditionOf subject, std::uint32_t id,
                                                   const ConditionValues& values) noexcept;
  /// The next record of every subject has all its values.
  void forget() noexcept { subjects_.clear(); }

 private:
  struct Subject {
    ConditionOf subject;
    std::uint32_t id;
    ConditionValues written;
  };
  [[nodiscard]] Subject* find_or_add(ConditionOf subject, std::uint32_t id) noexcept;

  std::vector<Subject> subjects_;
};

}  // namespace rangefinder
