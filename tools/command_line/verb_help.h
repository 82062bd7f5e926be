// SPDX-License-Identifier: Apache-2.0
//
// The text of --help.
//
//   Usage: rangefinder report [OPTIONS] DIR...
//
//   Rows:
//     --top N                   Show the N heaviest rows
//     --sort COLUMN             Sort by this column: a key of --json; modules: gpu,
//                               self, dram, …
//
// CLI11's own formatter neither wraps descriptions nor knows what follows `--`. This one uses only what
// CLI11 2.1 and later have.
#pragma once

#include <string>

#include "tools/command_line/command_notes.h"

namespace rangefinder {

/// Columns of --help at most.
inline constexpr std::size_t kHelpWidth = 100;

/// `name`: the program and the verb.
[[nodiscard]] std::string verb_help(const CLI::App& app, const std::string& name, const CommandNotes& notes);

}  // namespace rangefinder
