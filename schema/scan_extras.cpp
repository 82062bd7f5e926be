// SPDX-License-Identifier: Apache-2.0
//
// The attributes of an NVTX call. Mirrors write_extras.cpp.
#include <bit>
#include <charconv>
#include <cmath>

#include "schema/key_names.h"
#include "schema/line_scanner.h"

namespace rangefinder {
namespace {

/// The payload is a JSON number, or a text if that cannot represent it.
template <std::integral T>
bool parse(std::string_view text, T& value) noexcept {
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc{} && result.ptr == end;
}
bool parse(std::string_view text, double& value) noexcept {
  value = text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : -HUGE_VAL;
  return text == "nan" || text == "inf" || text == "-inf";
}

template <typename T>
bool payload_value(LineScanner payload, T& value) noexcept {
  if (payload.next() == '"') return parse(payload.quoted(), value) && payload.next() == ',';
  payload.number(value);
  return payload.next() == ',';
}

template <std::integral T>
bool integer_bits(const LineScanner& payload, std::uint64_t& bits) noexcept {
  T value = 0;
  const bool read = payload_value(payload, value);
  bits = static_cast<std::make_unsigned_t<T>>(value);
  return read;
}

/// The bits of the value, as in NvtxExtras::payload.
bool scanned_bits(const LineScanner& payload, PayloadType type, std::uint64_t& bits) noexcept {
  switch (type) {
    case PayloadType::i64:
      return integer_bits<std::int64_t>(payload, bits);
    case PayloadType::u32:
      return integer_bits<std::uint32_t>(payload, bits);
    case PayloadType::i32:
      return integer_bits<std::int32_t>(payload, bits);
    case PayloadType::f64:
    case PayloadType::f32: {
      double real = 0;
      const bool read = payload_value(payload, real);
      bits = type == PayloadType::f64 ? std::bit_cast<std::uint64_t>(real)
                                      : std::bit_cast<std::uint32_t>(static_cast<float>(real));
      return read;
    }
    default:
      return integer_bits<std::uint64_t>(payload, bits);
  }
}

/// The type comes behind the payload, which can be read only then.
void scan_payload(LineScanner& keys, NvtxExtras& extras) noexcept {
  const LineScanner payload = keys;
  keys.skip_to_comma();
  keys.required("payload_type"_key, extras.payload_type, kPayloadTypeNames);
  keys.expect(scanned_bits(payload, extras.payload_type, extras.payload));
}

void scan_color(LineScanner& keys, std::uint32_t& color) noexcept {
  const std::string_view text = keys.quoted();
  const char* const end = text.data() + text.size();
  keys.expect(text.size() == 9 && text[0] == '#' &&
              std::from_chars(text.data() + 1, end, color, 16).ptr == end);
}

void scan_hex(LineScanner& keys, std::vector<std::uint8_t>& bytes) {
  const std::string_view text = keys.quoted();
  keys.expect(text.size() % 2 == 0);
  bytes.resize(text.size() / 2);
  const char* at = text.data();
  for (std::uint8_t& byte : bytes) {
    keys.expect(std::from_chars(at, at + 2, byte, 16).ptr == at + 2);
    at += 2;
  }
}

}  // namespace

LineScanner scan_extras(LineScanner keys, NvtxExtras& extras) {
  keys.optional("category"_key, extras.category);
  if (keys.take_key("color"_key)) scan_color(keys, extras.color);
  if (keys.take_key("payload"_key)) scan_payload(keys, extras);
  if (!keys.take_key("payload_schema"_key)) return keys;
  keys.number(extras.payload_schema);
  // Data without a schema have no meaning, and readers ignore them.
  keys.expect(extras.payload_schema != 0);
  if (keys.take_key("payload_data"_key)) scan_hex(keys, extras.payload_data);
  return keys;
}

}  // namespace rangefinder
