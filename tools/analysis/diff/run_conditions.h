// SPDX-License-Identifier: Apache-2.0
//
// Clocks and power of the GPUs while the compared iterations ran, and how they differ between two runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/queries/condition_log.h"

namespace rangefinder {

/// By key: sm_mhz, memory_mhz, power_w: means over time and GPUs; power_capped, thermal_capped: the
/// part of the time in which NVML counted lower clocks, 0 to 1. Absent: not recorded.
using RunConditions = std::map<std::string, double>;

[[nodiscard]] RunConditions run_conditions(const ConditionLog& log, TimeNs first_ns, TimeNs last_ns);

/// "SM clock under load 1,980 and 1,455 MHz (-26.5 %)": those that differ by more than 3 %, or 3 points.
[[nodiscard]] std::vector<std::string> condition_differences(const RunConditions& a, const RunConditions& b);
/// "+7.7 %"
[[nodiscard]] std::string signed_percent(double part);
/// SM clock of B over that of A; absent if they differ by 3 % or less, or are unknown.
[[nodiscard]] std::optional<double> clock_ratio(const RunConditions& a, const RunConditions& b);

}  // namespace rangefinder
