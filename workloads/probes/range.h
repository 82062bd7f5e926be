// SPDX-License-Identifier: Apache-2.0
//
// A scoped NVTX push/pop range.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <string>

namespace rangefinder::probe {

/// Category of ranges whose u64 payload is a lower bound of the bytes they move.
inline constexpr std::uint32_t kBytesCategory = 1;

inline void name_bytes_category() {
  nvtxNameCategoryA(kBytesCategory, "rangefinder.bytes");
}

class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  explicit Range(const std::string& name) : Range(name.c_str()) {}
  /// Declares the lower bound of the bytes that the range reads plus writes.
  Range(const std::string& name, std::uint64_t declared_bytes) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.category = kBytesCategory;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    attributes.payload.ullValue = declared_bytes;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name.c_str();
    nvtxRangePushEx(&attributes);
  }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace rangefinder::probe
