// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/extended_payload.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <nlohmann/json.hpp>

namespace rangefinder {
namespace {

using nlohmann::json;

struct IntegerType {
  std::string_view name;
  std::uint64_t bytes;
  bool is_signed;
};
// Names as in profiler/nvtx/payload_schemas.cpp. Sizes of long and size_t as on 64-bit Linux.
constexpr std::array kIntegers{IntegerType{"int", 4, true},       IntegerType{"unsigned int", 4, false},
                               IntegerType{"long", 8, true},      IntegerType{"unsigned long", 8, false},
                               IntegerType{"long long", 8, true}, IntegerType{"unsigned long long", 8, false},
                               IntegerType{"short", 2, true},     IntegerType{"unsigned short", 2, false},
                               IntegerType{"int8", 1, true},      IntegerType{"uint8", 1, false},
                               IntegerType{"int16", 2, true},     IntegerType{"uint16", 2, false},
                               IntegerType{"int32", 4, true},     IntegerType{"uint32", 4, false},
                               IntegerType{"int64", 8, true},     IntegerType{"uint64", 8, false},
                               IntegerType{"size", 8, false},     IntegerType{"address", 8, false}};

std::string text_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || !at->is_string() ? "" : at->get<std::string>();
}

std::uint64_t number_at(const json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_number_integer()) return 0;
  return at->is_number_unsigned() ? at->get<std::uint64_t>()
                                  : static_cast<std::uint64_t>(at->get<std::int64_t>());
}

std::uint64_t integer_at(const std::uint8_t* at, std::uint64_t bytes, bool is_signed) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);  // both are little endian
  const std::uint64_t sign = std::uint64_t{1} << (8 * bytes - 1);
  return is_signed && bytes < 8 && (value & sign) != 0 ? value | ~(2 * sign - 1) : value;
}

}  // namespace

ExtendedPayloads::SchemaEntry ExtendedPayloads::entry_of(const std::string& name, const std::string& type) {
  const auto* const integer = std::find_if(kIntegers.begin(), kIntegers.end(),
                                           [&type](const IntegerType& one) { return one.name == type; });
  if (integer == kIntegers.end()) return {name, 0, false, 0, 0};
  return {name, integer->bytes, integer->is_signed, 0, 0};
}

void ExtendedPayloads::add(const PayloadSchemaRecord& schema) {
  const json definition = json::parse(schema.definition, nullptr, false);
  if (!definition.is_object()) return;
  const auto entries = definition.find("entries");
  if (entries == definition.end() || !entries->is_array()) return;
  const SchemaId key{schema.domain, schema.id};
  if (text_at(definition, "kind") == "enum") {
    Enumeration& enumeration = enums_[key];
    if (const std::uint64_t bytes = number_at(definition, "size"); bytes == 1 || bytes == 2 || bytes == 8)
      enumeration.bytes = bytes;
    for (const json& entry : *entries) {
      if (entry.is_object()) enumeration.names[number_at(entry, "value")] = text_at(entry, "name");
    }
    return;
  }
  std::vector<SchemaEntry>& decoded = schemas_[key];
  decoded.clear();
  for (const json& json_entry : *entries) {
    if (!json_entry.is_object()) break;
    // Flags mark pointers, arrays and text, which are not decoded.
    const bool plain = number_at(json_entry, "flags") == 0 && number_at(json_entry, "array_length") == 0;
    SchemaEntry entry = entry_of(text_at(json_entry, "name"), plain ? text_at(json_entry, "type") : "");
    if (plain) entry.of_enum = number_at(json_entry, "type");
    entry.offset = number_at(json_entry, "offset");
    decoded.push_back(std::move(entry));
  }
}

std::vector<PayloadEntry> ExtendedPayloads::entries(std::uint32_t domain, const NvtxExtras& extras) const {
  std::vector<PayloadEntry> out;
  const auto schema = schemas_.find({domain, extras.payload_schema});
  if (schema == schemas_.end()) return out;
  std::uint64_t at = 0;
  bool placed = true;
  // A payload has at most one integer a byte. A damaged schema has thousands, for each range again.
  std::size_t left = extras.payload_data.size();
  for (const SchemaEntry& entry : schema->second) {
    if (left-- == 0) break;
    const auto enumeration = entry.of_enum == 0 ? enums_.end() : enums_.find({domain, entry.of_enum});
    const std::uint64_t bytes = enumeration == enums_.end() ? entry.bytes : enumeration->second.bytes;
    placed = placed || entry.offset != 0;
    if (bytes == 0) placed = false;
    if (!placed) continue;
    at = entry.offset != 0 ? entry.offset : (at + bytes - 1) / bytes * bytes;
    if (at > extras.payload_data.size() || bytes > extras.payload_data.size() - at) break;
    const bool is_signed = enumeration != enums_.end() || entry.is_signed;
    PayloadEntry found{&entry.name, integer_at(extras.payload_data.data() + at, bytes, is_signed), nullptr};
    if (enumeration != enums_.end()) {
      const auto name = enumeration->second.names.find(found.value);
      if (name != enumeration->second.names.end()) found.text = &name->second;
    }
    out.push_back(found);
    at += bytes;
  }
  return out;
}

}  // namespace rangefinder
