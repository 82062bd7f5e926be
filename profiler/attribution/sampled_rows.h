// SPDX-License-Identifier: Apache-2.0
//
// Sampled bytes of the paths' own work, summed up the tree of paths like all other totals.
#pragma once

#include <vector>

#include "profiler/attribution/derived.h"
#include "profiler/attribution/sample_sharing.h"

namespace rangefinder {

/// One for each of `rows` (TotalsBuilder::paths(): parents before children, path 0 last), inclusive,
/// of bytes shared by time: their error is not known. Source none for rows without GPU work.
[[nodiscard]] std::vector<RowBytes> live_sampled_bytes(const std::vector<PathTotals>& rows,
                                                       const SampleSharing& samples);

}  // namespace rangefinder
