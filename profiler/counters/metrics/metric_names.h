// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": suggestions for a name that is neither a set nor a metric of any chip.
#pragma once

#include <string>
#include <string_view>

#include "profiler/counters/metrics/metric_catalog.h"

namespace rangefinder {

/// "dram__bytes_read" for "dram__bytes_read.sum", whether known or not.
[[nodiscard]] std::string_view base_of(std::string_view metric) noexcept;

/// One sentence with the nearest names: suffixes if `catalog`'s chip has the base metric, else
/// sets and metrics.
[[nodiscard]] std::string unknown_metric_text(const MetricCatalog& catalog, std::string_view name);

}  // namespace rangefinder
