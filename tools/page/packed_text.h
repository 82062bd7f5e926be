// SPDX-License-Identifier: Apache-2.0
//
// Bytes as text that an HTML page can hold: zlib's deflate, then base64.
//
// What comes out is A-Z a-z 0-9 + / = alone, so nothing inside can end a <script> or an attribute. The
// page reads it with DecompressionStream("deflate").
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

/// Throws std::runtime_error if zlib fails (memory).
[[nodiscard]] std::string packed_text(std::string_view bytes);

}  // namespace rangefinder
