// SPDX-License-Identifier: Apache-2.0
//
// A recorded name as text that every reader accepts: valid UTF-8, no NUL.
#pragma once

#include <string>
#include <string_view>

#include "schema/json_text.h"

namespace rangefinder {

/// Replaces NUL and every byte that is not part of a valid UTF-8 sequence by U+FFFD.
[[nodiscard]] inline std::string plain_text(std::string_view text) {
  std::string out;
  append_valid_utf8(out, text);
  for (std::size_t at = out.find('\0'); at != std::string::npos; at = out.find('\0', at)) {
    out.replace(at, 1, "\xEF\xBF\xBD");
  }
  return out;
}

}  // namespace rangefinder
