// SPDX-License-Identifier: Apache-2.0
//
// The rows of `report --json` about a whole trace, without nested values (flat_rows.h).
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/tables/whole_trace.h"

namespace rangefinder {

[[nodiscard]] nlohmann::ordered_json module_rows_of(WholeTrace& trace);
[[nodiscard]] nlohmann::ordered_json kernel_rows_of(WholeTrace& trace);
[[nodiscard]] nlohmann::ordered_json finding_rows_of(WholeTrace& trace);

}  // namespace rangefinder
