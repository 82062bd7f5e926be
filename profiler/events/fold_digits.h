// SPDX-License-Identifier: Apache-2.0
//
// `step 12345` becomes `step #`, `v2.10` becomes `v#.#`: one name for texts that differ
// only in numbers. Digits are the bytes '0' to '9'. No allocation.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "profiler/events/cut_text.h"

namespace rangefinder {

/// Returns `text` itself if it has no digit, else the folded text in `out`, as TextBuffer cuts it.
[[nodiscard]] inline std::string_view fold_digits(std::string_view text, std::span<char> out) noexcept {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (std::none_of(text.begin(), text.end(), is_digit)) return text;
  TextBuffer folded(out);
  bool in_digits = false;
  for (const char c : text) {
    const bool digit = is_digit(c);
    if (!digit || !in_digits) folded.put(digit ? '#' : c);
    in_digits = digit;
  }
  return folded.text();
}

}  // namespace rangefinder
