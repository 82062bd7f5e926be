// SPDX-License-Identifier: Apache-2.0
//
// The fields of a control request, checked: what is missing, of the wrong type or out of
// range is an error whose sentence goes back to the client.
#pragma once

#include <stdexcept>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "profiler/control/window_schedule.h"

namespace rangefinder {

/// What a client should have sent differently.
class BadRequest : public std::runtime_error {
 public:
  explicit BadRequest(const std::string& message) : std::runtime_error(message) {}
};

/// "out" and "counters" of start and window. Throws BadRequest.
[[nodiscard]] WindowRequest read_window_request(const nlohmann::json& request);
/// All of `window`. Throws BadRequest.
[[nodiscard]] WindowPlan read_window_plan(const nlohmann::json& request);
/// Throws BadRequest.
[[nodiscard]] CounterMode read_counter_mode(const nlohmann::json& value);
/// A number from `least` to `most`; `fallback` where it is absent. Throws BadRequest.
[[nodiscard]] double read_number(const nlohmann::json& request, const char* key, double least, double most,
                                 double fallback);
/// Empty where it is absent. Throws BadRequest.
[[nodiscard]] std::string read_text(const nlohmann::json& request, const char* key);

}  // namespace rangefinder
