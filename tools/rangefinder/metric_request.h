// SPDX-License-Identifier: Apache-2.0
//
// Metrics on the command line: loads libcupti for its host functions, which need no GPU, chooses the chip,
// and checks a request before the program starts.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "profiler/cupti/loader.h"

namespace rangefinder {

/// libcupti, ready to describe metrics. Loads it into this process. Throws Missing.
[[nodiscard]] CuptiLibrary load_metric_library(const CuptiSearch& search);

/// Chips that CUPTI knows. Throws Missing.
[[nodiscard]] std::vector<std::string> known_chips(const CuptiFunctions& cupti);

/// Chip of the first GPU, as in "GH100"; "" without a GPU. Initialises the driver.
[[nodiscard]] std::string chip_of_gpu(const CuptiFunctions& cupti);

/// The chip for --metrics on a machine without a GPU.
inline constexpr const char* kDefaultChip = "GH100";

/// A request as planned for the GPU here.
struct PlannedMetrics {
  std::string request;    ///< for RANGEFINDER_METRICS: the library then plans it in a tenth of the time
  std::size_t turns = 0;  ///< groups, measured in turn; 0: there is no GPU, or no libcupti
};

/// Throws WrongUse, with the nearest names, if no chip has a name in `request`, or if the GPU here can
/// count none of it. Uses a child process, so that neither libcupti nor a driver is loaded into this one.
/// Without libcupti it accepts everything; the injection library reports the problem later.
[[nodiscard]] PlannedMetrics plan_metric_request(const std::string& request, const CuptiSearch& search);

}  // namespace rangefinder
