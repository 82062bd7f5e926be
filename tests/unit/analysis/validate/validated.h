// SPDX-License-Identifier: Apache-2.0
//
// Runs `validate` on a TraceOnDisk.
#pragma once

#include <string>

#include "tests/unit/analysis/model/trace_on_disk.h"
#include "tools/analysis/validate/validation.h"

namespace rangefinder::test {

inline Validation check(const TraceOnDisk& trace, bool strict = false) {
  trace.write();
  return validate_trace(open_trace_folder(trace.folder.path()), strict);
}

inline std::string shown(const Validation& result) {
  std::string out;
  for (const Problem& problem : result.problems.first()) out += problem.kind + ": " + problem.text + "\n";
  return out;
}

/// The only kind of problem found; "" for none, "several: …" for more.
inline std::string only_kind(const Validation& result) {
  const auto& kinds = result.problems.by_kind();
  return kinds.empty() ? "" : kinds.size() == 1 ? kinds.begin()->first : "several: " + shown(result);
}

}  // namespace rangefinder::test
