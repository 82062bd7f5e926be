// SPDX-License-Identifier: Apache-2.0
//
// The attributes of an NVTX call. Mirrors write_extras.cpp.
#include <bit>
#include <charconv>
#include <cmath>

#include "schema/key_names.h"
#include "schema/line_keys.h"

namespace rangefinder {
namespace {

// A number, or a string if a JSON number cannot represent it.
template <std::integral T>
T payload_integer(const LineKeys& keys, simdjson::dom::element element) {
  T value = 0;
  std::string_view text;
  if (element.get(text)) {
    keys.read("payload", element, value);
    return value;
  }
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) {
    keys.refuse("payload", "a number of its payload_type");
  }
  return value;
}

double payload_real(const LineKeys& keys, simdjson::dom::element element) {
  std::string_view text;
  double value = 0;
  if (element.get(text)) {
    keys.read("payload", element, value);
    return value;
  }
  if (text == "nan") return std::nan("");
  if (text == "inf") return HUGE_VAL;
  if (text == "-inf") return -HUGE_VAL;
  keys.refuse("payload", "a number, \"nan\", \"inf\" or \"-inf\"");
}

// The bits of the value, as in NvtxExtras::payload.
std::uint64_t payload_bits(const LineKeys& keys, simdjson::dom::element element, PayloadType type) {
  switch (type) {
    case PayloadType::i64:
      return static_cast<std::uint64_t>(payload_integer<std::int64_t>(keys, element));
    case PayloadType::u32:
      return payload_integer<std::uint32_t>(keys, element);
    case PayloadType::i32:
      return static_cast<std::uint32_t>(payload_integer<std::int32_t>(keys, element));
    case PayloadType::f64:
      return std::bit_cast<std::uint64_t>(payload_real(keys, element));
    case PayloadType::f32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(payload_real(keys, element)));
    default:
      return payload_integer<std::uint64_t>(keys, element);
  }
}

void read_hex(const LineKeys& keys, std::string_view text, std::vector<std::uint8_t>& bytes) {
  bytes.clear();
  for (std::size_t i = 0; i < text.size(); i += 2) {
    std::uint8_t byte = 0;
    const char* const end = text.data() + i + 2;
    if (text.size() - i < 2 || std::from_chars(text.data() + i, end, byte, 16).ptr != end) {
      keys.refuse("payload_data", "pairs of hexadecimal digits");
    }
    bytes.push_back(byte);
  }
}

std::uint32_t read_color(const LineKeys& keys, std::string_view text) {
  std::uint32_t color = 0;
  const char* const end = text.data() + text.size();
  if (text.size() != 9 || text[0] != '#' || std::from_chars(text.data() + 1, end, color, 16).ptr != end) {
    keys.refuse("color", "a string like \"#FF00AA33\"");
  }
  return color;
}

}  // namespace

void fields(const LineKeys& keys, NvtxExtras& extras) {
  keys.optional("category", extras.category);
  std::string_view text;
  keys.optional("color", text);
  if (!text.empty()) extras.color = read_color(keys, text);
  if (keys.has("payload") || keys.has("payload_type")) {
    const simdjson::dom::element payload = keys.must_find("payload");
    keys.required("payload_type", extras.payload_type, kPayloadTypeNames);
    extras.payload = payload_bits(keys, payload, extras.payload_type);
  }
  keys.optional("payload_schema", extras.payload_schema);
  text = {};
  keys.optional("payload_data", text);
  if (extras.payload_schema != 0) read_hex(keys, text, extras.payload_data);
}

}  // namespace rangefinder
