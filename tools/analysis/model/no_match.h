// SPDX-License-Identifier: Apache-2.0
//
// A selection that the user gave and that matches nothing in a trace: what to say, with the nearest names.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/model/missing.h"

namespace rangefinder {

/// main prints it and ends with exit code 2: the command line names something that the trace does not have.
class NoMatch : public Missing {
 public:
  using Missing::Missing;
};

/// "--range decodr: no range of the trace matches; the nearest are decoder or encoder". `pattern`: see
/// profiler/base/path_glob.h. `paths`: of the trace, by id, as shown.
[[nodiscard]] std::string no_path_text(const std::string& option, const std::string& pattern,
                                       const std::unordered_map<std::uint32_t, PathRecord>& paths);

/// "; the nearest are a, b or c": up to three of `names`. Empty if there are none.
[[nodiscard]] std::string nearest_text(std::vector<std::string> names, const std::string& name);

}  // namespace rangefinder
