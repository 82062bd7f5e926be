// SPDX-License-Identifier: Apache-2.0
//
// Thrown when a tool needs something that does not exist or cannot be read. main prints it once and ends
// with exit code 3 (2 for NoMatch).
#pragma once

#include <stdexcept>
#include <string>

namespace rangefinder {

/// `what()`: what happened, to what, and what to do.
class Missing : public std::runtime_error {
 public:
  explicit Missing(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace rangefinder
