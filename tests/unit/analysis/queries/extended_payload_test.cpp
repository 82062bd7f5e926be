// SPDX-License-Identifier: Apache-2.0
//
// Extended payloads, with schemas in the form that profiler/nvtx/payload_schemas.cpp writes.
#include "tools/analysis/queries/extended_payload.h"
#include "tests/catch.h"

namespace rangefinder {
namespace {

NvtxExtras payload(std::uint64_t schema, std::vector<std::uint8_t> bytes) {
  NvtxExtras out;
  out.payload_schema = schema;
  out.payload_data = std::move(bytes);
  return out;
}

/// Schema 9 of domain 1, with these entries.
ExtendedPayloads schema(const std::string& entries) {
  ExtendedPayloads payloads;
  payloads.add({9, 1, R"({"kind":"schema","entries":[)" + entries + "]}"});
  return payloads;
}

TEST_CASE("a payload shorter than its schema gives its complete entries") {
  ExtendedPayloads payloads =
      schema(R"({"name":"a","type":"int"},{"name":"b","type":"int"},{"name":"c","type":"int"})");

  const auto entries = payloads.entries(1, payload(9, {1, 0, 0, 0, 2, 0, 0, 0, 3}));

  REQUIRE(entries.size() == 2);
  CHECK(*entries[1].name == "b");
  CHECK(entries[1].value == 2);
}

TEST_CASE("entries without an offset are aligned as by a compiler") {
  ExtendedPayloads payloads = schema(R"({"name":"a","type":"uint8"},{"name":"b","type":"size"})");

  const auto entries = payloads.entries(1, payload(9, {5, 0, 0, 0, 0, 0, 0, 0, 7, 1, 0, 0, 0, 0, 0, 0}));

  REQUIRE(entries.size() == 2);
  CHECK(entries[1].value == 263);
}

TEST_CASE("entries after a text of unknown length are omitted, unless they have an offset") {
  ExtendedPayloads payloads = schema(R"({"name":"text","type":"cstring"},{"name":"lost","type":"int"},)"
                                     R"({"name":"bytes","type":"int16","offset":2})");

  const auto entries = payloads.entries(1, payload(9, {0, 0, 0xfe, 0xff}));

  REQUIRE(entries.size() == 1);
  CHECK(static_cast<std::int64_t>(entries[0].value) == -2);
}

TEST_CASE("an enum's value has its name, and no name if it is not in the list") {
  ExtendedPayloads payloads = schema(R"({"name":"a","type":5},{"name":"b","type":5})");
  payloads.add({5, 1, R"({"kind":"enum","entries":[{"name":"Sum","value":0}],"size":4})"});

  const auto entries = payloads.entries(1, payload(9, {0, 0, 0, 0, 8, 0, 0, 0}));

  REQUIRE(entries.size() == 2);
  REQUIRE(entries[0].text != nullptr);
  CHECK(*entries[0].text == "Sum");
  CHECK(entries[1].text == nullptr);
}

TEST_CASE("a payload of another domain's schema, or of none, gives nothing") {
  ExtendedPayloads payloads = schema(R"({"name":"a","type":"int"})");
  payloads.add({10, 1, "not JSON"});

  CHECK(payloads.entries(2, payload(9, {1, 0, 0, 0})).empty());
  CHECK(payloads.entries(1, payload(10, {1, 0, 0, 0})).empty());
}

TEST_CASE("a payload has at most one integer a byte, whatever its schema says") {
  std::string entries;
  for (int i = 0; i < 1'000; ++i) entries += R"({"name":"a","type":"int8","offset":1},)";
  entries.pop_back();

  CHECK(schema(entries).entries(1, payload(9, {1, 2, 3, 4})).size() == 4);
}

}  // namespace
}  // namespace rangefinder
