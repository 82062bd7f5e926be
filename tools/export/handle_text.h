// SPDX-License-Identifier: Apache-2.0
//
// Addresses and handles as text: "0x7f10", and "" for none.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace rangefinder {

[[nodiscard]] inline std::string handle_text(std::uint64_t value) {
  if (value == 0) return {};
  char buffer[20];
  return "0x" + std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr);
}

}  // namespace rangefinder
