// SPDX-License-Identifier: Apache-2.0
//
// What a rule has to say of a trace: one sentence, where, what it could save, the numbers, what to do.
//
// Data alone. findings.h makes them and shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/tables/table.h"

namespace rangefinder {

/// From the prize's share of the time that was looked at: under 3 %, under 10 %, and more.
enum class Severity : std::uint8_t { info, notable, serious };

/// One number (or name) behind a finding.
struct Evidence {
  std::string key;   ///< in JSON, with the unit: "idle_ns"
  std::string text;  ///< for people: "GPU idle"
  CellValue value;
  Unit unit = Unit::text;
};

/// A rule reports its most valuable findings only.
inline constexpr std::size_t kMaxFindings = 3;

struct Finding {
  std::string id;     ///< of the rule, as in "launch_bound"
  std::string title;  ///< one sentence without a full stop
  std::string where;  ///< path, kernel or stream; empty: the whole program
  Severity severity = Severity::info;
  /// What fixing it could save at most, over all of the trace; the evidence says how it was computed.
  /// Absent: the trace does not tell.
  std::optional<std::uint64_t> saving_ns;
  std::vector<Evidence> evidence;  ///< never empty
  std::string next_step;           ///< one sentence
};

}  // namespace rangefinder
