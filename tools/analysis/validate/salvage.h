// SPDX-License-Identifier: Apache-2.0
//
// A trace that was cut or damaged, made whole: every line that can be read, and an end.
//
//   trace ─▶ its whole lines, byte for byte, and an end line ─▶ a new folder ─▶ validated ─▶ put in place
//
// Nothing is made up: a line is either kept as it is or dropped and counted in the loss, and with a name that
// cannot be read all lines that refer to it. Only the end line is written anew (salvage_ledger.h says what it
// holds), and summary.json is no longer final. The result stands where it was asked for once it
// was found valid, as a whole; until then it lies beside that place under a name that ends in ".salvage".
// Refuses, with what is wrong, a trace that is not valid even then.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/analysis/read/trace_files.h"
#include "tools/analysis/validate/validation.h"

namespace rangefinder {

struct Salvage {
  Validation before;
  Validation after;             ///< unless nothing was to be done
  bool needed = false;          ///< false: `before` is valid, strictly
  bool done = false;            ///< `after` is valid, and in `place`
  std::filesystem::path place;  ///< folder of the result
  std::uint64_t kept = 0;       ///< lines, without the new end
  std::uint64_t dropped = 0;
};

/// Into `to`, which must not be there; empty: in place of the segments of `trace`. Throws Missing.
[[nodiscard]] Salvage salvage_trace(const TraceFolder& trace, const std::filesystem::path& to);

}  // namespace rangefinder
