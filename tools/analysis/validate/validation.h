// SPDX-License-Identifier: Apache-2.0
//
// Is this a true trace? Structure (every line is one of the format) and sense (what
// trace_check.h lists), over all of its segments, and the summary beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/read/trace_files.h"
#include "tools/analysis/validate/problem_log.h"

namespace rangefinder {

struct Validation {
  std::string place;  ///< folder, or the file that was named
  std::uint64_t segments = 0;
  std::uint64_t lines = 0;
  ProblemLog problems;
  std::vector<std::string> notes;  ///< what is worth knowing and no fault
  [[nodiscard]] bool valid() const noexcept { return problems.count() == 0; }
};

/// `strict`: a torn last line and a missing end are problems too. Throws Missing.
[[nodiscard]] Validation validate_trace(const TraceFolder& trace, bool strict);

}  // namespace rangefinder
