// SPDX-License-Identifier: Apache-2.0
//
// When `diff` fails a pipeline: the limits of --fail-over.
//
//   "5%"                          iteration=5%,module=5%
//   "iteration=3%,dram=10%"       only these
//
// A limit that cannot be checked (too few iterations, too large a spread, counters of different modes) is no
// limit that holds: `diff` ends with exit code 4. A row fails if it is worse by more than its limit, and
// significantly so. `module` is about every row of the modules, bytes included; `dram` about their DRAM
// bytes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/diff/trace_diff.h"

namespace rangefinder {

/// "5%" or "0.05" as 0.05. Throws WrongUse, which names the option.
[[nodiscard]] double parse_share(const std::string& option, const std::string& text);

struct FailLimits {
  std::optional<double> iteration, module, dram;  ///< absent: not checked

  /// Empty: no limits. Throws WrongUse with the valid names.
  [[nodiscard]] static FailLimits parse(const std::string& text);
  /// Rows beyond their limit: the iteration first.
  [[nodiscard]] std::vector<const Change*> failed(const TraceDiff& diff) const;
  /// Why a limit could not be checked, without a full stop; empty: all were.
  [[nodiscard]] std::string unchecked(const TraceDiff& diff) const;
};

}  // namespace rangefinder
