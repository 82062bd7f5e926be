// SPDX-License-Identifier: Apache-2.0
//
// Options of all verbs that load a trace: --jobs, --memory and --communication.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/model/trace.h"
#include "tools/command_line/command_line.h"

namespace rangefinder {

struct ReadOptions {
  std::uint64_t jobs = ReadLimits{}.jobs;
  std::string memory;         ///< as given
  std::string communication;  ///< a valid regular expression, after limits()

  void add_to(Verb& verb);
  /// `iteration_range`: glob, or empty.
  void pass_to(std::vector<TraceFolder>& traces, const std::string& iteration_range) const;
  /// Throws WrongUse.
  [[nodiscard]] ReadLimits limits() const;
};

}  // namespace rangefinder
