// SPDX-License-Identifier: Apache-2.0
//
// JSON rows without nested values, for tools that read tables (Grafana's Infinity, pandas).
//
//   {"memcpy_bytes": {"HtoD": 5}, "missing_sets": ["a", "b"]}
//                     ─▶  {"memcpy_bytes_HtoD": 5, "missing_sets": "a, b"}
//
// Nested keys are joined by '_'. A '.' in a key becomes '_', because readers take it for a path into an
// object.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace rangefinder {

[[nodiscard]] nlohmann::ordered_json flat_row(const nlohmann::ordered_json& row);

/// An array of rows.
[[nodiscard]] nlohmann::ordered_json flat_rows(const nlohmann::ordered_json& rows);

/// The modules of a report or a summary. The last row is the work outside of any range.
[[nodiscard]] nlohmann::ordered_json flat_modules(const nlohmann::ordered_json& document);

}  // namespace rangefinder
