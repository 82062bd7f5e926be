// SPDX-License-Identifier: Apache-2.0
//
// What rangefinder and its edition without CUDA share: they parse the command line, run the chosen verb,
// print an error once, and return its exit code.
#pragma once

#include <string>
#include <vector>

#include "tools/rangefinder/verb.h"

namespace rangefinder {

struct Program {
  const char* edition;  ///< after the version; empty: everything
  const char* about;
  const char* start;   ///< what to type first; all that is printed without arguments
  const char* footer;  ///< end of --help, after `start`
  /// `program`: the words after the first `--`.
  void (*add_verbs)(CommandLine& line, Action& action, const std::vector<std::string>& program);
};

/// report, diff, validate, finalize, export and serve.
void add_reading_verbs(CommandLine& line, Action& action);

/// Returns the exit code of main().
[[nodiscard]] int run_program(const Program& program, int argc, char** argv) noexcept;

}  // namespace rangefinder
