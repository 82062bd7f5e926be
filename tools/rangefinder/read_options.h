// SPDX-License-Identifier: Apache-2.0
//
// Options of all verbs that load a trace: --jobs and --memory.
#pragma once

#include <cstdint>
#include <string>

#include "tools/analysis/model/trace.h"
#include "tools/command_line/command_line.h"

namespace rangefinder {

struct ReadOptions {
  std::uint64_t jobs = ReadLimits{}.jobs;
  std::string memory;  ///< as given

  void add_to(Verb& verb);
  /// Throws WrongUse.
  [[nodiscard]] ReadLimits limits() const;
};

}  // namespace rangefinder
