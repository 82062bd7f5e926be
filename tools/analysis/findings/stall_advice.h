// SPDX-License-Identifier: Apache-2.0
//
// What warps wait for, and the usual fix: a row for each stall of named_metrics.h that has one.
//
// Reasons and fixes are those of Nsight Compute's documentation. Not in the table: Selected and Not Selected,
// which are no waits; Math Pipe Throttle, which means that arithmetic limits the kernel; Misc.
// docs/findings.md has the same table; a test compares them.
#pragma once

#include <span>
#include <string_view>

namespace rangefinder {

struct StallAdvice {
  std::string_view metric;  ///< "stall_long_scoreboard"
  const char* waits;        ///< follows "waits": "for loads from memory"
  const char* fix;          ///< a next step, without a full stop
  const char* code;         ///< "": none
};

[[nodiscard]] std::span<const StallAdvice> stall_advice() noexcept;
/// nullptr: no stall, or none that a row is for.
[[nodiscard]] const StallAdvice* find_stall_advice(std::string_view metric) noexcept;

}  // namespace rangefinder
