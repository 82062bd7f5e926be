// SPDX-License-Identifier: Apache-2.0
//
// Recorded values as text: names, addresses, colours and payloads; names in files and addresses.
#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/json_text.h"
#include "schema/record.h"

namespace rangefinder {

/// A name that every reader accepts. Replaces NUL and every byte that is not part of a valid UTF-8 sequence
/// by U+FFFD.
[[nodiscard]] inline std::string plain_text(std::string_view text) {
  std::string out;
  append_valid_utf8(out, text);
  for (std::size_t at = out.find('\0'); at != std::string::npos; at = out.find('\0', at)) {
    out.replace(at, 1, "\xEF\xBF\xBD");
  }
  return out;
}

/// An address or handle: "0x7f10"; "" for none.
[[nodiscard]] inline std::string handle_text(std::uint64_t value) {
  if (value == 0) return {};
  char buffer[20];
  return "0x" + std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value, 16).ptr);
}

/// The payload of an NVTX call, by its type. monostate: no payload. 32-bit types are widened.
using PayloadValue = std::variant<std::monostate, std::uint64_t, std::int64_t, double>;

[[nodiscard]] inline PayloadValue payload_value(const NvtxExtras& extras) noexcept {
  const auto low = static_cast<std::uint32_t>(extras.payload);
  switch (extras.payload_type) {
    case PayloadType::none:
      return {};
    case PayloadType::u64:
      return extras.payload;
    case PayloadType::u32:
      return std::uint64_t{low};
    case PayloadType::i64:
      return std::bit_cast<std::int64_t>(extras.payload);
    case PayloadType::i32:
      return std::int64_t{std::bit_cast<std::int32_t>(low)};
    case PayloadType::f64:
      return std::bit_cast<double>(extras.payload);
    case PayloadType::f32:
      return double{std::bit_cast<float>(low)};
  }
  return {};
}

/// Decimal digits, "nan", "inf" or "-inf"; "" for no payload.
[[nodiscard]] inline std::string payload_text(const NvtxExtras& extras) {
  char buffer[48];
  return std::visit(
      [&](const auto& value) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          return {};
        } else {
          return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
        }
      },
      payload_value(extras));
}

/// "python3 train.py --steps 20": the words of a command.
[[nodiscard]] inline std::string words_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

/// Text as part of a file name or an address: bytes that are no ASCII letter or digit, and not in `plain`, as
/// "%2F".
[[nodiscard]] inline std::string percent_text(std::string_view text, std::string_view plain) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (is_alphanumeric || plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

/// NVTX colour as "#AARRGGBB"; "" for none.
[[nodiscard]] inline std::string color_text(std::uint32_t argb) {
  if (argb == 0) return {};
  std::string out = "#";
  for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789ABCDEF"[argb >> shift & 15];
  return out;
}

}  // namespace rangefinder
