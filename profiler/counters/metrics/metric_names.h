// SPDX-License-Identifier: Apache-2.0
//
// "Did you mean": what to say about a name that is neither a set nor a metric of any chip.
#pragma once

#include <string>
#include <string_view>

#include "profiler/counters/metrics/metric_catalog.h"

namespace rangefinder {

/// "dram__bytes_read" of "dram__bytes_read.sum", known or not.
[[nodiscard]] std::string_view base_of(std::string_view metric) noexcept;

/// One sentence with the nearest names: suffixes where the base metric is one of `catalog`'s
/// chip, else sets and metrics.
[[nodiscard]] std::string unknown_metric_text(const MetricCatalog& catalog, std::string_view name);

}  // namespace rangefinder
