// SPDX-License-Identifier: Apache-2.0
//
// Reads and checks the fields of a control request. A field that is missing, of the wrong type or
// out of range is an error; its message goes to the client.
#pragma once

#include <stdexcept>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "profiler/control/window_schedule.h"

namespace rangefinder {

/// An invalid request; what() says what to send instead.
class BadRequest : public std::runtime_error {
 public:
  explicit BadRequest(const std::string& message) : std::runtime_error(message) {}
};

/// The fields "out" and "counters" of start and window. Throws BadRequest.
[[nodiscard]] WindowRequest read_window_request(const nlohmann::json& request);
/// All fields of window. Throws BadRequest.
[[nodiscard]] WindowPlan read_window_plan(const nlohmann::json& request);
/// Throws BadRequest.
[[nodiscard]] CounterMode read_counter_mode(const nlohmann::json& value);
/// A number from `min` to `max`; `fallback` if it is absent. Throws BadRequest.
[[nodiscard]] double read_number(const nlohmann::json& request, const char* key, double min, double max,
                                 double fallback);
/// Empty if it is absent. Throws BadRequest.
[[nodiscard]] std::string read_text(const nlohmann::json& request, const char* key);

}  // namespace rangefinder
