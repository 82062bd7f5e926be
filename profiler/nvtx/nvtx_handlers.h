// SPDX-License-Identifier: Apache-2.0
//
// Internal to nvtx/: declarations shared by the files with handlers. Other folders use nvtx.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "profiler/events/name_table.h"
#include "profiler/events/range_stack.h"
#include "profiler/events/thread_state.h"
#include "profiler/nvtx/nvtx_headers.h"

namespace rangefinder {

/// Our function pointers by callback id; nullptr: no handler.
struct HandlerTables {
  std::array<NvtxFunctionPointer, NVTX_CBID_CORE_SIZE> core{};
  std::array<NvtxFunctionPointer, NVTX_CBID_CORE2_SIZE> core2{};
};
void add_range_handlers(HandlerTables& tables) noexcept;   // nvtx_core.cpp
void add_domain_handlers(HandlerTables& tables) noexcept;  // nvtx_domains.cpp

/// Handler by NVTX3EXT_CBID_*; 0: none. nvtx_payload.cpp
[[nodiscard]] std::intptr_t payload_handler(unsigned id) noexcept;

// nvtx_events.cpp

/// Text of an event: already interned (name != 0), or `text`.
struct EventText {
  std::uint32_t name = 0;
  std::string_view text;
};
[[nodiscard]] std::uint32_t intern_text(ThreadState& state, const EventText& text) noexcept;
[[nodiscard]] inline int push_text(ThreadState& state, std::uint32_t domain, const EventText& text,
                                   const NvtxAttributes& attributes) noexcept {
  return text.name == 0 ? state.push(domain, text.text, attributes)
                        : state.push_name(domain, text.name, attributes);
}

/// NULL becomes "".
[[nodiscard]] inline std::string_view bounded_text(const char* text) noexcept {
  return text == nullptr ? std::string_view{}
                         : std::string_view(text, strnlen(text, NameTable::kMaxReadBytes));
}

/// Converts a wide text to UTF-8 in `out`, as TextBuffer cuts it. Invalid code points become U+FFFD.
[[nodiscard]] std::string_view utf8_of(const wchar_t* text, std::span<char> out) noexcept;

/// Marks and start/end ranges. `start_range` returns the id for the application: `chained_id` if it is not 0,
/// else our own.
void mark(ThreadState& state, std::uint32_t domain, const EventText& text,
          const NvtxAttributes& attributes) noexcept;
[[nodiscard]] std::uint64_t start_range(const ThreadUse& state, std::uint32_t domain, const EventText& text,
                                        const NvtxAttributes& attributes, std::uint64_t chained_id) noexcept;
void end_range(std::uint64_t id, const NvtxPayload* extended) noexcept;

/// Selects one payload of `count`, since a record holds one; the others are counted. False: none.
[[nodiscard]] bool select_payload(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count,
                                  NvtxPayload& selected) noexcept;
/// The payload entry that its schema declares as the event message.
[[nodiscard]] EventText message_in(std::uint32_t domain, const NvtxPayload& payload) noexcept;

}  // namespace rangefinder
