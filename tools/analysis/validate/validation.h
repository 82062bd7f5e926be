// SPDX-License-Identifier: Apache-2.0
//
// Validates a trace over all of its segments, in one pass: the structure (every line is in the format), the
// content (trace_check.h), and the summary beside it (summary_check.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/model/trace_files.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

struct Validation {
  std::string place;             ///< folder, or the file that the user named
  std::optional<Header> header;  ///< the first
  std::uint64_t segments = 0;
  std::uint64_t lines = 0;
  ProblemLog problems;
  std::vector<std::string> notes;   ///< worth knowing, but no problems
  std::uint64_t missing_lines = 0;  ///< event lines that were on disk, as far as counted
  /// Lines are missing that were on disk: more than a killed program leaves unwritten.
  [[nodiscard]] bool incomplete() const;
  [[nodiscard]] bool valid() const noexcept { return problems.count() == 0; }
};

/// `strict`: a torn last line and a missing end are problems too. Throws Missing.
[[nodiscard]] Validation validate_trace(const TraceFolder& trace, bool strict);

}  // namespace rangefinder
