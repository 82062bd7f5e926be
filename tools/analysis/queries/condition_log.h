// SPDX-License-Identifier: Apache-2.0
//
// The conditions of a trace over time.
//
//   condition lines ─▶ add() ─▶ values by subject and condition ─▶ within(first, last): statistics
//
// Memory: 16 bytes a value in a line, 40 MB for an hour in which two values change in every reading.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "profiler/attribution/condition_totals.h"
#include "profiler/attribution/held_values.h"
#include "schema/condition_record.h"

namespace rangefinder {

class ConditionLog {
 public:
  struct Point {
    TimeNs at_ns = 0;
    std::uint64_t value = 0;  ///< holds until the next point
  };
  using Series = std::vector<Point>;
  using Subjects = std::map<ConditionSubject, std::array<Series, kConditionCount>>;

  /// In the order of the trace, which is that of time for one subject.
  void add(const ConditionRecord& record);
  [[nodiscard]] bool empty() const noexcept { return subjects_.empty(); }
  /// Of the latest record.
  [[nodiscard]] TimeNs last_ns() const noexcept { return last_ns_; }
  [[nodiscard]] const Subjects& subjects() const noexcept { return subjects_; }

  /// Values from `first_ns` to `last_ns`. The one that holds at `first_ns` is the first, without one the
  /// first after it.
  [[nodiscard]] static HeldValues within(const Series& series, TimeNs first_ns, TimeNs last_ns);

 private:
  Subjects subjects_;
  TimeNs last_ns_ = 0;
};

}  // namespace rangefinder
