// SPDX-License-Identifier: Apache-2.0
//
// Rows of JSON without anything inside of a value, as tables want them (Grafana's Infinity, pandas).
//
//   {"memcpy_bytes": {"HtoD": 5}, "missing_sets": ["a", "b"]}  ─▶  {"memcpy_bytes_HtoD": 5, "missing_sets":
//   "a, b"}
//
// Keys of objects are joined by '_', and a '.' in them becomes one: both would be read as a way into an
// object.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace rangefinder {

[[nodiscard]] nlohmann::ordered_json flat_row(const nlohmann::ordered_json& row);

/// An array of rows.
[[nodiscard]] nlohmann::ordered_json flat_rows(const nlohmann::ordered_json& rows);

/// The modules of a report or a summary; what ran outside of any range is a row like the others, the last.
[[nodiscard]] nlohmann::ordered_json flat_modules(const nlohmann::ordered_json& document);

/// On one line; what is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string compact_json(const nlohmann::ordered_json& value);

}  // namespace rangefinder
