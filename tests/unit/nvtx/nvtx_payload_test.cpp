// SPDX-License-Identifier: Apache-2.0
//
// The payload extension, called through the real nvtx3 headers (static_injection.cpp).
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/unit/nvtx/recorded_events.h"

using namespace rangefinder;

namespace {

constexpr std::uint64_t kSchemaFields =
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
    NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;

nvtxPayloadSchemaEntry_t entry_of(const char* name, std::uint64_t type, std::uint64_t flags = 0,
                                  std::uint64_t length = 0) {
  nvtxPayloadSchemaEntry_t entry{};
  entry.name = name;
  entry.type = type;
  entry.flags = flags;
  entry.arrayOrUnionDetail = length;
  return entry;
}

std::uint64_t register_schema(const char* name, const std::vector<nvtxPayloadSchemaEntry_t>& entries,
                              std::size_t bytes, std::uint64_t id = 0) {
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = kSchemaFields | (id != 0 ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0);
  schema.name = name;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries.data();
  schema.numEntries = entries.size();
  schema.payloadStaticSize = bytes;
  schema.schemaId = id;
  return nvtxPayloadSchemaRegister(nullptr, &schema);
}

nlohmann::json definition_in(const std::vector<Seen>& seen) {
  REQUIRE(seen.size() == 1);
  REQUIRE(seen[0].event.kind == EventKind::payload_schema);
  return nlohmann::json::parse(name_text(seen[0].event.schema.definition));
}

struct Message {
  std::uint32_t number;
  const char* text;
};

std::uint64_t message_schema() {
  const std::uint64_t id = register_schema(
      "message",
      {entry_of("number", NVTX_PAYLOAD_ENTRY_TYPE_UINT32),
       entry_of("text", NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE)},
      sizeof(Message));
  take_events();
  return id;
}

template <typename Value>
std::string bytes_of(const Value& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

}  // namespace

TEST_CASE("a schema is recorded as JSON, and gets an id if it has none") {
  const std::uint64_t id = register_schema(
      "all \"quoted\"\x01\xff",
      {entry_of("count", NVTX_PAYLOAD_ENTRY_TYPE_UINT32),
       entry_of("values", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 4),
       entry_of("nested", NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5)},
      48);

  CHECK(id >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  const auto seen = take_events();
  const nlohmann::json definition = definition_in(seen);
  CHECK(seen[0].event.schema.id == id);
  CHECK(definition["kind"] == "schema");
  CHECK(definition["name"] == "all \"quoted\"\x01\uFFFD");
  CHECK(definition["type"] == "static");
  CHECK(definition["size"] == 48);
  REQUIRE(definition["entries"].size() == 3);
  CHECK(definition["entries"][0] == nlohmann::json{{"name", "count"}, {"type", "uint32"}});
  CHECK(definition["entries"][1]["array_length"] == 4);
  CHECK(definition["entries"][1]["flags"] == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE);
  CHECK(definition["entries"][2]["type"] == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5);
}

TEST_CASE("a schema with an id keeps it") {
  CHECK(register_schema("static", {}, 0, NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 77) ==
        NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 77);
  take_events();
}

TEST_CASE("fields of a schema that are not in its mask are not read") {
  nvtxPayloadSchemaAttr_t schema{};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC;
  schema.name = reinterpret_cast<const char*>(1);
  schema.entries = reinterpret_cast<const nvtxPayloadSchemaEntry_t*>(1);
  schema.numEntries = 1000;

  nvtxPayloadSchemaRegister(nullptr, &schema);

  const nlohmann::json definition = definition_in(take_events());
  CHECK(definition ==
        nlohmann::json{
            {"kind", "schema"}, {"name", ""}, {"type", "dynamic"}, {"entries", nlohmann::json::array()}});
}

TEST_CASE("a definition too long for a name loses its last entries and is marked truncated") {
  const std::string name(500, 'n');

  register_schema("long", std::vector(200, entry_of(name.c_str(), NVTX_PAYLOAD_ENTRY_TYPE_INT8)), 200);

  const nlohmann::json definition = definition_in(take_events());
  CHECK(definition["truncated"] == true);
  CHECK(definition["entries"].size() == 25);
}

TEST_CASE("an enum is recorded with its values") {
  const nvtxPayloadEnum_t entries[] = {{"red", 1, 0}, {"blue", 2, 1}};
  nvtxPayloadEnumAttr_t colors{};
  colors.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE;
  colors.name = "colors";
  colors.entries = entries;
  colors.numEntries = 2;
  colors.sizeOfEnum = 4;

  CHECK(nvtxPayloadEnumRegister(nullptr, &colors) >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);

  CHECK(definition_in(take_events()) == nlohmann::json::parse(R"({"kind":"enum","name":"colors","size":4,
        "entries":[{"name":"red","value":1},{"name":"blue","value":2,"flag":true}]})"));
}

TEST_CASE("a payload range gets its name from the message in its payload and keeps the data") {
  const std::uint64_t schema = message_schema();
  const Message message{7, "from the payload"};
  const nvtxPayloadData_t data{schema, sizeof message, &message};

  CHECK(nvtxRangePushPayload(nullptr, &data, 1) == 0);
  CHECK(open_name() == "from the payload");
  CHECK(nvtxRangePopPayload(nullptr, nullptr, 0) == 0);

  const auto seen = take_events();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].event.kind == EventKind::range);
  CHECK(seen[0].schema == schema);
  CHECK(seen[0].extra == bytes_of(message));
}

TEST_CASE("the message may be a registered string after entries of other sizes") {
  struct Payload {
    std::uint8_t small;
    double values[3];
    std::uint16_t middle;
    nvtxStringHandle_t text;
  };
  const std::uint64_t schema = register_schema(
      "registered",
      {entry_of("small", NVTX_PAYLOAD_ENTRY_TYPE_UINT8),
       entry_of("values", NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 3),
       entry_of("middle", NVTX_PAYLOAD_ENTRY_TYPE_USHORT),
       entry_of("text", NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE,
                NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE)},
      sizeof(Payload));
  take_events();
  const Payload payload{1, {}, 2, nvtxDomainRegisterStringA(nullptr, "registered message")};
  const nvtxPayloadData_t data{schema, SIZE_MAX, &payload};

  nvtxMarkPayload(nullptr, &data, 1);

  const auto seen = take_events();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].event.kind == EventKind::mark);
  CHECK(name_text(seen[0].event.nvtx.name) == "registered message");
  CHECK(seen[0].extra.size() == sizeof payload);
}

TEST_CASE("the message may be a text of fixed length inside the payload") {
  struct Payload {
    std::int32_t number;
    char text[8];
  };
  const std::uint64_t schema = register_schema(
      "embedded",
      {entry_of("number", NVTX_PAYLOAD_ENTRY_TYPE_INT),
       entry_of("text", NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, 8)},
      sizeof(Payload));
  take_events();
  const Payload full{1, {'e', 'i', 'g', 'h', 't', 'l', 'y', '!'}}, part{2, "abc"};
  for (const Payload* const payload : {&full, &part}) {
    const nvtxPayloadData_t data{schema, sizeof *payload, payload};
    nvtxMarkPayload(nullptr, &data, 1);
  }

  const auto seen = take_events();

  REQUIRE(seen.size() == 2);
  CHECK(name_text(seen[0].event.nvtx.name) == "eightly!");
  CHECK(name_text(seen[1].event.nvtx.name) == "abc");
}

TEST_CASE("a payload shorter than its schema is not read beyond its end") {
  const std::uint64_t schema = message_schema();
  const std::unique_ptr<std::byte[]> memory(new std::byte[10]{});
  const nvtxPayloadData_t data{schema, 10, memory.get()};

  nvtxMarkPayload(nullptr, &data, 1);

  const auto seen = take_events();
  REQUIRE(seen.size() == 1);
  CHECK(name_text(seen[0].event.nvtx.name).empty());
  CHECK(seen[0].extra.size() == 10);
}

TEST_CASE("start/end ranges keep a payload of their start or of their end") {
  const std::uint64_t schema = message_schema();
  const Message message{1, "started"}, last{2, "ended"};
  const nvtxPayloadData_t at_start{schema, sizeof message, &message}, at_end{schema, sizeof last, &last};

  nvtxRangeEndPayload(nullptr, nvtxRangeStartPayload(nullptr, &at_start, 1), nullptr, 0);
  nvtxRangeEndPayload(nullptr, nvtxRangeStartA("plain"), &at_end, 1);
  const std::uint64_t dropped = counted(Loss::payloads_truncated, [&] {
    nvtxRangeEndPayload(nullptr, nvtxRangeStartPayload(nullptr, &at_start, 1), &at_end, 1);
  });

  const auto seen = take_events();
  REQUIRE(seen.size() == 3);
  CHECK(name_text(seen[0].event.nvtx.name) == "started");
  CHECK(seen[0].extra == bytes_of(message));
  CHECK(name_text(seen[1].event.nvtx.name) == "plain");
  CHECK(seen[1].extra == bytes_of(last));
  CHECK(seen[2].extra == bytes_of(message));
  CHECK(dropped == 1);
}

TEST_CASE("event attributes may have extended payloads: the first is kept, others are counted") {
  const std::uint64_t schema = message_schema();
  const Message message{3, "unused"};
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "by attributes";
  nvtxPayloadData_t data[] = {{NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED, 0, nullptr},
                              {schema, sizeof message, &message},
                              {schema, sizeof message, &message}};
  NVTX_PAYLOAD_EVTATTR_SET_MULTIPLE(event, data)

  const std::uint64_t dropped = counted(Loss::payloads_truncated, [&event] { nvtxRangePushEx(&event); });

  CHECK(open_name() == "by attributes");
  nvtxRangePop();
  const auto seen = take_events();
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].schema == schema);
  CHECK(seen[0].extra == bytes_of(message));
  CHECK(seen[0].event.payload_type == 0);
  CHECK(dropped == 1);
}

TEST_CASE("the extension's queries return ids, times and enabled") {
  CHECK(nvtxDomainIsEnabled(nullptr) == 1);
  const std::int64_t before_ns = clock_now_ns();
  CHECK(nvtxTimestampGet() >= before_ns);

  nvtxScopeAttr_t scope{sizeof scope, "GPU[0]", NVTX_SCOPE_ROOT, NVTX_SCOPE_NONE};
  CHECK(nvtxScopeRegister(nullptr, &scope) >= NVTX_SCOPE_ID_DYNAMIC_START);
  scope.scopeId = NVTX_SCOPE_ID_STATIC_START + 3;
  CHECK(nvtxScopeRegister(nullptr, &scope) == scope.scopeId);

  nvtxTimeDomainAttr_t time{};
  CHECK(nvtxTimeDomainRegister(nullptr, &time) >= NVTX_TIME_DOMAIN_ID_DYNAMIC_START);
}
