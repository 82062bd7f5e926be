// SPDX-License-Identifier: Apache-2.0
//
// Repairs a truncated or damaged trace: keeps every readable line and adds an end line.
//
//   trace ─▶ its valid lines, byte for byte, and an end line ─▶ a new folder ─▶ validated ─▶ moved into place
//
// No data is invented. A line is kept unchanged, or dropped and counted in the loss. If a line that defines a
// name is unreadable, all lines that refer to it are dropped too. Only the end line is new
// (salvage_ledger.h), and summary.json is no longer final. The result is written beside its place, under a
// name that ends in ".salvage", and moved into place after it was validated. A trace that is still not valid
// is refused, with its problems.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/analysis/model/trace_files.h"
#include "tools/analysis/validate/validation.h"

namespace rangefinder {

struct Salvage {
  Validation before;
  Validation after;             ///< set if needed
  bool needed = false;          ///< false: `before` is valid by the strict rules
  bool done = false;            ///< `after` is valid, and the result is in `place`
  std::filesystem::path place;  ///< folder of the result
  std::uint64_t kept = 0;       ///< lines, without the new end line
  std::uint64_t dropped = 0;
};

/// Writes the result to `to`, which must not exist; empty: replaces the segments of `trace`. Throws Missing.
[[nodiscard]] Salvage salvage_trace(const TraceFolder& trace, const std::filesystem::path& to);

}  // namespace rangefinder
