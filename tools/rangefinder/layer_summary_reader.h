// SPDX-License-Identifier: Apache-2.0
//
// Reads from summary.json what the layer report shows of it. Missing or invalid fields count as absent, so a
// damaged summary gives a shorter report, never an exception.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/attribution/layer_report.h"

namespace rangefinder {

[[nodiscard]] LayerSummary read_layer_summary(const nlohmann::json& summary);

}  // namespace rangefinder
