// SPDX-License-Identifier: Apache-2.0
//
// The formula of a named metric: the counters it needs, and its text for the documents.
#pragma once

#include <string>
#include <vector>

#include "profiler/metrics/named_metrics.h"

namespace rangefinder {

/// CUPTI's names of all inputs, each once.
[[nodiscard]] std::vector<std::string> collected_for(const NamedMetric& metric);
/// "100 * (A + B) / C"
[[nodiscard]] std::string formula_text(const NamedMetric& metric);

}  // namespace rangefinder
