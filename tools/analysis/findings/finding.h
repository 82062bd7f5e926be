// SPDX-License-Identifier: Apache-2.0
//
// The result of a rule: a place, an effect, the potential saving, the evidence and the next step.
//
//   rule ─▶ effect, where, saving_ns, of_ns, why, next_step ─▶ FindingRules ─▶ title, share, severity, …
//
// Data only. findings.h computes and prints findings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/model/module_sources.h"
#include "tools/analysis/queries/host_stacks.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

/// By the share of the time that the saving is compared with: under 3 %, under 10 %, and more.
enum class Severity : std::uint8_t { info, notable, serious };

/// One number (or name) behind a finding.
struct Evidence {
  std::string key;   ///< in JSON, with the unit: "idle_ns"
  std::string text;  ///< for people: "GPU idle"
  CellValue value;
  Unit unit = Unit::text;
};

/// Of a finding about several modules: one of them.
struct FindingPart {
  std::string where;     ///< module, `*` for numbers; empty: outside of any range
  std::uint64_t ns = 0;  ///< its part of the saving
  SourceLines source = {};
};

/// A rule reports its most valuable findings only.
inline constexpr std::size_t kMaxFindings = 3;

struct Finding {
  std::string id = {};      ///< of the rule, as in "launch_bound"
  std::string where = {};   ///< module, `*` for numbers; of several the path above; empty: the whole program
  std::uint64_t of_ns = 0;  ///< the time that the finding is about; no saving exceeds it
  /// Potential saving: upper bound of what a fix saves over the analysed time. Absent: the trace cannot show
  /// it.
  std::optional<std::uint64_t> saving_ns = {};
  /// Follows the module: "moves 2.9x its declared bytes". Without one: a whole clause.
  std::string effect = {};
  std::vector<FindingPart> modules = {};        ///< if one fix mends several: largest first
  std::string kernel = {};                      ///< of a rule about one kernel
  std::optional<std::uint32_t> kernel_id = {};  ///< of its name
  std::optional<MainFunction> function = {};    ///< in which the host was most of that time
  std::string why = {};                         ///< two sentences, the deciding number first
  std::vector<Evidence> evidence = {};          ///< never empty
  std::string next_step = {};                   ///< one sentence without a full stop
  std::string code = {};                        ///< a line of code for it; empty: there is none

  // FindingRules sets these; a rule that has neither saving_ns nor of_ns sets its severity.
  SourceLines source = {};  ///< of the module; of the parts in `modules` too
  std::string title = {};   ///< a complete statement: module, effect, saving; without a full stop
  Severity severity = Severity::info;
  std::optional<double> share = {};                  ///< of the saving, or of of_ns, in the compared time
  std::optional<std::uint64_t> saving_each_ns = {};  ///< per iteration; absent: there are no iterations
  bool experimental = false;                         ///< the rule never fired on a recorded run
  bool outside = false;                              ///< set-up, warm-up or tear-down
};

}  // namespace rangefinder
