// SPDX-License-Identifier: Apache-2.0
//
// Statistics of the conditions of a run, by subject: a GPU, the process, a thread.
//
//   condition lines ─▶ add() ─▶ HeldValues of each condition ─▶ summary.json, tables
//
// Kept live in the application, and made again from a trace by the tools. Memory: HeldValues for each
// condition of a subject; at most kMaxSubjects of them.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string_view>

#include "profiler/attribution/held_values.h"
#include "schema/condition_record.h"

namespace rangefinder {

struct ConditionSubject {
  ConditionOf of = ConditionOf::process;
  std::uint32_t id = 0;
  auto operator<=>(const ConditionSubject&) const = default;
};

class ConditionTotals {
 public:
  static constexpr std::size_t kMaxSubjects = 1024;
  using Values = std::array<HeldValues, kConditionCount>;

  /// In order of time, as far as one subject is concerned.
  void add(const ConditionRecord& record);
  /// Values hold until `at_ns`; more may follow.
  void end(TimeNs at_ns);
  [[nodiscard]] const std::map<ConditionSubject, Values>& subjects() const noexcept { return subjects_; }

 private:
  std::map<ConditionSubject, Values> subjects_;
};

/// Nanoseconds by reason of a Condition::throttle; reasons that never held are omitted.
[[nodiscard]] std::map<std::string_view, std::uint64_t> throttle_times_ns(const HeldValues& throttle);

}  // namespace rangefinder
