// SPDX-License-Identifier: Apache-2.0
//
// `--split-by`: exact bytes of graph launches, split over the paths of the graphs' nodes.
//
//   exact trace ────▶ bytes of the path that holds the launches ─┐
//   sampled trace ──▶ proportions of the paths below it ─────────┴─▶ bytes of each path, with their bound
//
// Exact counters measure a graph launch as a whole. A sampled trace of the same program has bytes of every
// node. The two traces may have different numbers of iterations: only proportions are taken from the second.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "profiler/attribution/derived.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/sampling/sampled_bytes.h"

namespace rangefinder {

/// By path of `trace`: the paths whose bytes exact counters have only as part of a graph launch. Paths are
/// matched by their text; those without samples in `other` are omitted.
[[nodiscard]] std::unordered_map<std::uint32_t, RowBytes> split_graph_bytes(const TraceTotals& trace,
                                                                            const TraceTotals& other,
                                                                            const SampledTotals& samples);

}  // namespace rangefinder
