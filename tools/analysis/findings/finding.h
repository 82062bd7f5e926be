// SPDX-License-Identifier: Apache-2.0
//
// The result of a rule: a title, a place, the potential saving, the evidence and the next step.
//
// Data only. findings.h computes and prints findings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/tables/table.h"

namespace rangefinder {

/// By the potential saving as a share of the analysed time: under 3 %, under 10 %, and more.
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
  /// Potential saving: upper bound of what a fix saves over the analysed time. The evidence shows how it
  /// was computed. Absent: the trace cannot show it.
  std::optional<std::uint64_t> saving_ns;
  std::vector<Evidence> evidence;  ///< never empty
  std::string next_step;           ///< one sentence
};

}  // namespace rangefinder
