// SPDX-License-Identifier: Apache-2.0
//
// Metrics as the command line asks for them: libcupti loaded for its host functions, which
// need no GPU, the chip in question, and the check of a request before a program starts.
#pragma once

#include <string>
#include <vector>

#include "profiler/cupti/loader.h"

namespace rangefinder {

/// libcupti, ready to describe metrics. Loads it into this process. Throws Missing.
[[nodiscard]] CuptiLibrary load_metric_library(const std::string& override_path);

/// Chips that CUPTI knows. Throws Missing.
[[nodiscard]] std::vector<std::string> known_chips(const CuptiFunctions& cupti);

/// Chip of the first GPU, as in "GH100"; "" where there is none. Initialises the driver.
[[nodiscard]] std::string chip_of_gpu(const CuptiFunctions& cupti);

/// What --metrics means where there is no GPU to ask.
inline constexpr const char* kDefaultChip = "GH100";

/// Throws WrongUse with the nearest names when `request` names what no chip has, or when the GPU
/// here can count nothing of it. Asks in a child process, so that neither libcupti nor a driver is
/// loaded into this one. Without libcupti it accepts everything: the library says so in its turn.
void check_metric_request(const std::string& request, const std::string& cupti_path);

}  // namespace rangefinder
