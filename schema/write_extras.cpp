// SPDX-License-Identifier: Apache-2.0
//
// The attributes of an NVTX call. Mirrors read_extras.cpp.
#include <bit>

#include "schema/line_writer.h"

namespace rangefinder {
namespace {

// Many readers parse JSON numbers as doubles: larger integers are written as strings.
constexpr std::uint64_t kLargestSafeInteger = std::uint64_t{1} << 53;

template <std::integral T>
void append_payload_integer(std::string& out, T value) {
  const auto wide = static_cast<std::uint64_t>(value);
  const bool quoted = (value < 0 ? 0 - wide : wide) > kLargestSafeInteger;
  char buffer[24];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  if (quoted) out += '"';
  out.append(buffer, static_cast<std::size_t>(result.ptr - buffer));
  if (quoted) out += '"';
}

void append_payload(std::string& out, const NvtxExtras& extras) {
  const auto low = static_cast<std::uint32_t>(extras.payload);
  switch (extras.payload_type) {
    case PayloadType::i64:
      append_payload_integer(out, std::bit_cast<std::int64_t>(extras.payload));
      break;
    case PayloadType::f64:
      append_json_real(out, std::bit_cast<double>(extras.payload));
      break;
    case PayloadType::u32:
      append_payload_integer(out, low);
      break;
    case PayloadType::i32:
      append_payload_integer(out, std::bit_cast<std::int32_t>(low));
      break;
    case PayloadType::f32:
      append_json_real(out, std::bit_cast<float>(low));
      break;
    default:
      append_payload_integer(out, extras.payload);
      break;
  }
}

void append_hex(std::string& out, std::uint8_t byte, const char* digits) {
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

}  // namespace

void fields(LineWriter& line, const NvtxExtras& extras) {
  line.nonzero("category", extras.category);
  if (extras.color != 0) {
    std::string& out = line.open("color");
    out += "\"#";
    for (unsigned shift : {24u, 16u, 8u, 0u}) {
      append_hex(out, static_cast<std::uint8_t>(extras.color >> shift), "0123456789ABCDEF");
    }
    out += '"';
  }
  if (!to_text(extras.payload_type).empty()) {
    append_payload(line.open("payload"), extras);
    line.text("payload_type", to_text(extras.payload_type));
  }
  if (extras.payload_schema == 0) return;  // data without a schema has no meaning
  line.number("payload_schema", extras.payload_schema);
  if (extras.payload_data.empty()) return;
  std::string& out = line.open("payload_data");
  out += '"';
  for (const std::uint8_t byte : extras.payload_data) append_hex(out, byte, "0123456789abcdef");
  out += '"';
}

}  // namespace rangefinder
