// SPDX-License-Identifier: Apache-2.0
//
// Sums the sampled bytes of the paths' own work up the tree of paths, like all other totals.
#pragma once

#include <vector>

#include "profiler/attribution/derived.h"
#include "profiler/attribution/sample_sharing.h"

namespace rangefinder {

/// Inclusive live bytes for each of `rows` (TotalsBuilder::paths(): parents before children, path 0 last),
/// with a bound of their error for 95 % of all paths. Rows without GPU work have Source::none.
[[nodiscard]] std::vector<RowBytes> live_sampled_bytes(const std::vector<PathTotals>& rows,
                                                       const SampleSharing& samples);

}  // namespace rangefinder
