// SPDX-License-Identifier: Apache-2.0
//
// Decodes an extended NVTX payload by the schema that the application registered for it.
//
//   payload_schema line   {"entries":[{"name":"Message size [bytes]","type":"size","offset":8}, …]}
//   range line            payload_schema, payload_data (bytes)        ─▶ name, value
//
// Integers and enums only: they are sizes, ranks and communicators. After an entry of unknown size (text,
// nested schemas), entries without an offset of their own are omitted.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// An integer of a payload. `name` and `text` live as long as the schemas.
struct PayloadEntry {
  const std::string* name = nullptr;
  std::uint64_t value = 0;            ///< negative values as two's complement
  const std::string* text = nullptr;  ///< an enum's name for it; nullptr: none
};

/// Not thread-safe.
class ExtendedPayloads {
 public:
  /// Ignores definitions that are not JSON or not a schema.
  void add(const PayloadSchemaRecord& schema);
  [[nodiscard]] bool knows(std::uint32_t domain, const NvtxExtras& extras) const {
    return schemas_.contains({domain, extras.payload_schema});
  }
  /// The decoded entries; empty without a schema.
  [[nodiscard]] std::vector<PayloadEntry> entries(std::uint32_t domain, const NvtxExtras& extras) const;

 private:
  struct SchemaEntry {
    std::string name;
    std::uint64_t bytes = 0;  // 0: not an integer
    bool is_signed = false;
    std::uint64_t offset = 0;   // 0: after the previous entry
    std::uint64_t of_enum = 0;  // id; 0: none
  };
  using SchemaId = std::pair<std::uint32_t, std::uint64_t>;  // domain, id
  static SchemaEntry entry_of(const std::string& name, const std::string& type);

  std::map<SchemaId, std::vector<SchemaEntry>> schemas_;
  struct Enumeration {
    std::uint64_t bytes = 4;
    std::map<std::uint64_t, std::string> names;
  };
  std::map<SchemaId, Enumeration> enums_;
};

}  // namespace rangefinder
