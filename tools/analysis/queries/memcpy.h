// SPDX-License-Identifier: Apache-2.0
//
// The table of copies of `rangefinder report --section memcpy`.
#pragma once

#include <vector>

#include "tools/analysis/table/table.h"

namespace rangefinder {

/// The columns of the table of copies.
[[nodiscard]] std::vector<TableColumn> memcpy_columns();

}  // namespace rangefinder
