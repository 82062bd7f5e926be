// SPDX-License-Identifier: Apache-2.0
//
// Reads a count from a JSON document that may be damaged.
#pragma once

#include <cstdint>

namespace rangefinder {

/// Json: of nlohmann. 0 if `object` is none, or has no integer above 0 there.
template <typename Json>
[[nodiscard]] std::uint64_t count_at(const Json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number_integer()) return 0;
  return at->is_number_unsigned() || at->template get<std::int64_t>() > 0 ? at->template get<std::uint64_t>()
                                                                          : 0;
}

}  // namespace rangefinder
