// SPDX-License-Identifier: Apache-2.0
//
// Bytes as text for an HTML page: zlib's deflate, then base64.
//
// The text has only the characters A-Z a-z 0-9 + / =, so it cannot end a <script> or an attribute. The page
// unpacks it with DecompressionStream("deflate").
#pragma once

#include <string>
#include <string_view>

namespace rangefinder {

/// Throws std::runtime_error if zlib fails (memory).
[[nodiscard]] std::string packed_text(std::string_view bytes);

}  // namespace rangefinder
