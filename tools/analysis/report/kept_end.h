// SPDX-License-Identifier: Apache-2.0
//
// What `--keep last` left of a run: which time, and the totals of the whole run from summary.json beside
// those of the trace.
//
//   Only the end of this run of 30.4 s is in the trace: GPU work from 24.3 s on. 24 earlier segments …
//                 kernels  GPU time  copies  copied   DRAM
//   in the trace   80,969    1.20 s     120  1.2 GB  4.2 GB
//   whole run     800,000    12.3 s   1,200   12 GB   41 GB
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/queries/row_values.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {

/// `everything`: `trace` has all of the files, not a selection. "": no segment was removed.
[[nodiscard]] std::string kept_end_text(const TraceTotals& trace, const RowValues& values, bool everything,
                                        const TextStyle& style);
/// {"gpu_from_ns", "removed_segments", "totals": [{"of", "kernels", …}]}; null: no segment was removed.
[[nodiscard]] nlohmann::ordered_json kept_end_json(const TraceTotals& trace, const RowValues& values,
                                                   bool everything);

}  // namespace rangefinder
