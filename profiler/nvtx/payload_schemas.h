// SPDX-License-Identifier: Apache-2.0
//
// Schemas and enums of the NVTX payload extension: their definitions as JSON for the
// trace, and the position of an event's message in its payload.
//
// Bounded: a definition takes at most 16 KiB, the maximum of a name (later entries are
// dropped and "truncated" is set), and layouts of kMaxSchemas schemas are kept.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>

#include "profiler/guest/host_mutex.h"
#include "profiler/nvtx/nvtx_handles.h"
#include "profiler/nvtx/nvtx_headers.h"

namespace rangefinder {

/// Sizes in bytes of the predefined types 1 to 27, from the application's compiler.
using PayloadTypes = std::array<nvtxPayloadEntryTypeInfo_t, NVTX_PAYLOAD_ENTRY_TYPE_INFO_ARRAY_SIZE>;

/// Position of the event's message in a payload.
struct SchemaLayout {
  enum class Message : std::uint8_t { none, registered, pointer, embedded };
  Message message = Message::none;
  std::uint64_t message_at = 0;     ///< bytes from the payload's start
  std::uint64_t message_bytes = 0;  ///< embedded: maximum length; 0: up to the terminating 0
  std::uint64_t static_bytes = 0;   ///< size of the payload; 0: not fixed
};

/// {"kind":"schema",…} and {"kind":"enum",…}. Throw std::bad_alloc.
[[nodiscard]] std::string definition_of(const nvtxPayloadSchemaAttr_t& schema);
[[nodiscard]] std::string definition_of(const nvtxPayloadEnumAttr_t& enumeration);

/// Any thread.
class PayloadSchemas {
 public:
  static constexpr std::uint32_t kMaxSchemas = 4096;

  /// Keeps the layout of schema `id`; beyond kMaxSchemas it is not kept.
  void add(std::uint32_t domain, std::uint64_t id, const nvtxPayloadSchemaAttr_t& schema) noexcept;
  /// nullptr: not known.
  [[nodiscard]] const SchemaLayout* find(std::uint32_t domain, std::uint64_t id) const noexcept;

  /// Sets the type sizes that the application passed when it initialised the extension.
  void set_types(const nvtxPayloadEntryTypeInfo_t* types) noexcept;

  [[nodiscard]] HostMutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint32_t kChunk = 256;
  struct Extent {
    std::uint64_t bytes = 0, align = 1;  // bytes 0: depends on the data
  };
  [[nodiscard]] Extent extent_of(std::uint32_t domain, const nvtxPayloadSchemaEntry_t& entry) const noexcept;
  [[nodiscard]] SchemaLayout layout_of(std::uint32_t domain,
                                       const nvtxPayloadSchemaAttr_t& schema) const noexcept;

  HostMutex mutex_;
  std::uint32_t used_ = 0;  // guarded by mutex_
  PayloadTypes types_{};    // guarded by mutex_
  IdMap ids_;               // inserts guarded by mutex_; (domain, schema id) ▶ layout + 1
  std::array<std::atomic<SchemaLayout*>, kMaxSchemas / kChunk> chunks_{};  // never freed
};

[[nodiscard]] PayloadSchemas& payload_schemas() noexcept;

}  // namespace rangefinder
