// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/payload_schemas.h"

#include <algorithm>
#include <new>

#include <nlohmann/json.hpp>

#include "profiler/events/name_table.h"
#include "profiler/guest/host_lock.h"
#include "profiler/guest/never_destroyed.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

// More entries than this never fit into a definition's 16 KiB.
constexpr std::size_t kMaxEntries = 1024;
constexpr std::uint64_t kArrayFlags = 7u << 4;  // the four NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_*

constexpr std::string_view kTypeNames[] = {"invalid",
                                           "char",
                                           "unsigned char",
                                           "short",
                                           "unsigned short",
                                           "int",
                                           "unsigned int",
                                           "long",
                                           "unsigned long",
                                           "long long",
                                           "unsigned long long",
                                           "int8",
                                           "uint8",
                                           "int16",
                                           "uint16",
                                           "int32",
                                           "uint32",
                                           "int64",
                                           "uint64",
                                           "float",
                                           "double",
                                           "long double",
                                           "size",
                                           "address",
                                           "wchar",
                                           "char8",
                                           "char16",
                                           "char32"};
static_assert(std::size(kTypeNames) == NVTX_PAYLOAD_ENTRY_TYPE_INFO_ARRAY_SIZE);

struct TypeName {
  std::uint64_t type;
  std::string_view name;
  std::uint64_t bytes;  // types whose size does not depend on the compiler
};
constexpr TypeName kOtherTypes[] = {
    {NVTX_PAYLOAD_ENTRY_TYPE_BYTE, "byte", 1},
    {NVTX_PAYLOAD_ENTRY_TYPE_INT128, "int128", 16},
    {NVTX_PAYLOAD_ENTRY_TYPE_UINT128, "uint128", 16},
    {NVTX_PAYLOAD_ENTRY_TYPE_FLOAT16, "float16", 2},
    {NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32, "float32", 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64, "float64", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_FLOAT128, "float128", 16},
    {NVTX_PAYLOAD_ENTRY_TYPE_BF16, "bf16", 2},
    {NVTX_PAYLOAD_ENTRY_TYPE_TF32, "tf32", 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "category", 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color_argb", 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, "scope_id", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32, "pid_uint32", 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64, "pid_uint64", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32, "tid_uint32", 4},
    {NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64, "tid_uint64", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "cstring", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "cstring_utf8", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, "cstring_utf16", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32, "cstring_utf32", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "registered_string", 8},
    {NVTX_PAYLOAD_ENTRY_TYPE_UNION_SELECTOR, "union_selector", 4},
};

const TypeName* other_type(std::uint64_t type) noexcept {
  const auto* const found = std::find_if(std::begin(kOtherTypes), std::end(kOtherTypes),
                                         [=](const auto& t) { return t.type == type; });
  return found == std::end(kOtherTypes) ? nullptr : found;
}

bool is_string(std::uint64_t type) noexcept {
  return type >= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING && type <= NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32;
}

// Name of a type, or id of the nested schema.
OrderedJson type_name(std::uint64_t type) {
  if (type < std::size(kTypeNames)) return std::string(kTypeNames[type]);
  const TypeName* const other = other_type(type);
  return other != nullptr ? OrderedJson(std::string(other->name)) : OrderedJson(type);
}

OrderedJson text_of(const char* text) {
  return std::string(text == nullptr ? "" : text, text == nullptr ? 0 : strnlen(text, 1024));
}

// JSON of at most a name's length: entries at the end are dropped until it fits.
std::string shortened(OrderedJson definition) {
  for (;;) {
    std::string text = definition.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
    OrderedJson& entries = definition["entries"];
    if (text.size() <= NameTable::kMaxNameBytes || entries.empty()) return text;
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(entries.size() / 2), entries.end());
    definition["truncated"] = true;
  }
}

OrderedJson entry_of(const nvtxPayloadSchemaEntry_t& entry) {
  OrderedJson json{{"name", text_of(entry.name)}, {"type", type_name(entry.type)}};
  if (entry.flags != 0) json["flags"] = entry.flags;
  if (entry.description != nullptr) json["description"] = text_of(entry.description);
  if (entry.arrayOrUnionDetail != 0) json["array_length"] = entry.arrayOrUnionDetail;
  if (entry.offset != 0) json["offset"] = entry.offset;
  return json;
}

constexpr bool has(std::uint64_t mask, std::uint64_t field) noexcept {
  return (mask & field) != 0;
}

std::size_t entries_of(const nvtxPayloadSchemaAttr_t& schema) noexcept {
  const bool given = has(schema.fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) &&
                     has(schema.fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES);
  return given && schema.entries != nullptr ? std::min(schema.numEntries, kMaxEntries) : 0;
}

}  // namespace

std::string definition_of(const nvtxPayloadSchemaAttr_t& schema) {
  constexpr const char* kSchemaTypes[] = {"invalid", "static", "dynamic", "union",
                                          "union_with_internal_selector"};
  const std::uint64_t mask = schema.fieldMask;
  const std::uint64_t type = has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE) ? schema.type : 0;
  OrderedJson json{{"kind", "schema"}};
  json["name"] = text_of(has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) ? schema.name : nullptr);
  json["type"] = type < std::size(kSchemaTypes) ? OrderedJson(kSchemaTypes[type]) : OrderedJson(type);
  if (has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS) && schema.flags != 0) json["flags"] = schema.flags;
  json["entries"] = OrderedJson::array();
  for (std::size_t i = 0; i < entries_of(schema); ++i) json["entries"].push_back(entry_of(schema.entries[i]));
  if (has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE)) json["size"] = schema.payloadStaticSize;
  if (has(mask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT)) json["align"] = schema.packAlign;
  return shortened(std::move(json));
}

std::string definition_of(const nvtxPayloadEnumAttr_t& enumeration) {
  const std::uint64_t mask = enumeration.fieldMask;
  OrderedJson json{{"kind", "enum"}};
  json["name"] = text_of(has(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME) ? enumeration.name : nullptr);
  json["entries"] = OrderedJson::array();
  const bool given = has(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES) &&
                     has(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES) && enumeration.entries != nullptr;
  for (std::size_t i = 0; i < (given ? std::min(enumeration.numEntries, kMaxEntries) : 0); ++i) {
    const nvtxPayloadEnum_t& entry = enumeration.entries[i];
    OrderedJson value{{"name", text_of(entry.name)}, {"value", entry.value}};
    if (entry.isFlag != 0) value["flag"] = true;
    json["entries"].push_back(std::move(value));
  }
  if (has(mask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE)) json["size"] = enumeration.sizeOfEnum;
  return shortened(std::move(json));
}

// Size and alignment of an entry in the payload. Pointers have the size of a pointer.
PayloadSchemas::Extent PayloadSchemas::extent_of(std::uint32_t domain,
                                                 const nvtxPayloadSchemaEntry_t& entry) const noexcept {
  if (has(entry.flags, NVTX_PAYLOAD_ENTRY_FLAG_POINTER)) return {sizeof(void*), alignof(void*)};
  const std::uint64_t array = entry.flags & kArrayFlags;
  if (is_string(entry.type)) {
    if (array == 0 && entry.arrayOrUnionDetail == 0) return {sizeof(void*), alignof(void*)};
    const std::uint64_t unit = entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16   ? 2
                               : entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF32 ? 4
                                                                                     : 1;
    const bool fixed = array == 0 || array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE;
    return {fixed ? entry.arrayOrUnionDetail * unit : 0, unit};
  }
  Extent extent;
  if (entry.type < types_.size()) {
    extent = {types_[entry.type].size, std::max<std::uint64_t>(types_[entry.type].align, 1)};
  } else if (const TypeName* const other = other_type(entry.type)) {
    extent = {other->bytes, other->bytes};
  } else if (const SchemaLayout* const nested = find(domain, entry.type)) {
    extent = {nested->static_bytes, 8};
  }
  if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) extent.bytes *= entry.arrayOrUnionDetail;
  if (array != 0 && array != NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) extent.bytes = 0;
  return extent;
}

// Computes the position of each entry up to the message, from its offset if given, else by natural alignment.
SchemaLayout PayloadSchemas::layout_of(std::uint32_t domain,
                                       const nvtxPayloadSchemaAttr_t& schema) const noexcept {
  using Message = SchemaLayout::Message;
  SchemaLayout layout;
  if (has(schema.fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE))
    layout.static_bytes = schema.payloadStaticSize;
  const bool packs = has(schema.fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT) && schema.packAlign != 0;
  const std::uint64_t max_align = packs ? schema.packAlign : UINT64_MAX;
  std::uint64_t at = 0;
  bool known = true;  // `at` is valid
  for (std::size_t i = 0; i < entries_of(schema); ++i) {
    const nvtxPayloadSchemaEntry_t& entry = schema.entries[i];
    const Extent extent = extent_of(domain, entry);
    const std::uint64_t align = std::min(extent.align, max_align);
    at = entry.offset != 0 ? entry.offset : (at + align - 1) / align * align;
    known = known || entry.offset != 0;
    if (has(entry.flags, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE) && known) {
      layout.message_at = at;
      const bool text =
          entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING || entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
      const bool pointer = has(entry.flags, NVTX_PAYLOAD_ENTRY_FLAG_POINTER) ||
                           ((entry.flags & kArrayFlags) == 0 && entry.arrayOrUnionDetail == 0);
      const bool variable = (entry.flags & kArrayFlags) > NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;
      if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE)
        layout.message = Message::registered;
      if (text && pointer) layout.message = Message::pointer;
      if (text && !pointer && !variable) layout.message = Message::embedded;
      const bool terminated = (entry.flags & kArrayFlags) == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED;
      if (!terminated) layout.message_bytes = entry.arrayOrUnionDetail;
      return layout;
    }
    known = known && extent.bytes != 0;
    at += extent.bytes;
  }
  return layout;
}

namespace {

// A domain has 10 bits, a schema id in practice 33: the key holds both. 0: does not fit, not kept.
std::uint64_t key_of(std::uint32_t domain, std::uint64_t id) noexcept {
  return id >> 50 != 0 ? 0 : std::uint64_t{domain} << 50 | id;
}

}  // namespace

void PayloadSchemas::add(std::uint32_t domain, std::uint64_t id,
                         const nvtxPayloadSchemaAttr_t& schema) noexcept {
  const HostLock lock(mutex_);
  if (!lock || used_ == kMaxSchemas) return;
  std::atomic<SchemaLayout*>& chunk = chunks_[used_ / kChunk];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    chunk.store(new (std::nothrow) SchemaLayout[kChunk], std::memory_order_release);
    if (chunk.load(std::memory_order_relaxed) == nullptr) return;
  }
  chunk.load(std::memory_order_relaxed)[used_ % kChunk] = layout_of(domain, schema);
  if (ids_.insert(key_of(domain, id), used_ + 1)) ++used_;
}

const SchemaLayout* PayloadSchemas::find(std::uint32_t domain, std::uint64_t id) const noexcept {
  const std::uint32_t found = ids_.find(key_of(domain, id));
  if (found == 0) return nullptr;
  return &chunks_[(found - 1) / kChunk].load(std::memory_order_acquire)[(found - 1) % kChunk];
}

void PayloadSchemas::set_types(const nvtxPayloadEntryTypeInfo_t* types) noexcept {
  if (types == nullptr) return;
  const HostLock lock(mutex_);
  if (!lock) return;
  // Entry 0 holds the number of entries and the size of each.
  if (types[0].align != sizeof(nvtxPayloadEntryTypeInfo_t)) return;
  std::copy_n(types, std::min<std::size_t>(types[0].size, types_.size()), types_.begin());
}

PayloadSchemas& payload_schemas() noexcept {
  return never_destroyed<PayloadSchemas>();
}

}  // namespace rangefinder
