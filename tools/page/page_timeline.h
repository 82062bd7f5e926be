// SPDX-License-Identifier: Apache-2.0
//
// A timeline as JSON: columns of integers, with delta-encoded times so that they compress well.
// tools/web/src/data/timeline.ts reads it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tools/page/page_indices.h"
#include "tools/page/timeline.h"

namespace rangefinder {

[[nodiscard]] nlohmann::ordered_json page_timeline(Timeline& timeline, const TraceNames& names,
                                                   const PageCounts& counts, const PageIndices& indices);

}  // namespace rangefinder
