// SPDX-License-Identifier: Apache-2.0
//
// Inside of nvtx/: what the files with handlers share. nvtx.h is for everybody else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "profiler/events/range_stack.h"
#include "profiler/events/thread_state.h"
#include "profiler/nvtx/nvtx_headers.h"

namespace rangefinder {

/// Our function pointers by callback id; nullptr: we have none.
struct HandlerTables {
  std::array<NvtxFunctionPointer, NVTX_CBID_CORE_SIZE> core{};
  std::array<NvtxFunctionPointer, NVTX_CBID_CORE2_SIZE> core2{};
};
void add_range_handlers(HandlerTables& tables) noexcept;   // nvtx_core.cpp
void add_domain_handlers(HandlerTables& tables) noexcept;  // nvtx_domains.cpp

/// By NVTX3EXT_CBID_*; 0: we have none. nvtx_payload.cpp
[[nodiscard]] std::intptr_t payload_handler(unsigned id) noexcept;

// nvtx_events.cpp

/// Text of an event: interned already (name != 0), or not yet.
struct EventText {
  std::uint32_t name = 0;
  std::string_view text;
};
[[nodiscard]] std::uint32_t intern_text(ThreadState& state, const EventText& text) noexcept;
[[nodiscard]] int push_text(ThreadState& state, std::uint32_t domain, const EventText& text,
                            const NvtxAttributes& attributes) noexcept;

/// A NULL text is "". Of longer ones than a name may be only the beginning is looked at.
[[nodiscard]] std::string_view bounded_text(const char* text) noexcept;

// One behind the longest name, so that the name table sees that it was cut, and a last character.
inline constexpr std::size_t kWideBufferBytes = 16'384 + 5;
/// UTF-8 of a wide text in `out`, cut where that is full. What is no code point becomes U+FFFD.
[[nodiscard]] std::string_view utf8_of(const wchar_t* text, std::span<char> out) noexcept;

/// Marks and start/end ranges. `start_range` returns the id that the application gets: `chained_id`
/// where the chained tool gave one.
void mark(ThreadState& state, std::uint32_t domain, const EventText& text,
          const NvtxAttributes& attributes) noexcept;
[[nodiscard]] std::uint64_t start_range(const ThreadUse& state, std::uint32_t domain, const EventText& text,
                                        const NvtxAttributes& attributes, std::uint64_t chained_id) noexcept;
void end_range(std::uint64_t id, const NvtxPayload* extended) noexcept;

/// The one payload of `count` that a record can hold; the others are counted. False: none.
[[nodiscard]] bool select_payload(std::uint32_t domain, const nvtxPayloadData_t* data, std::size_t count,
                                  NvtxPayload& selected) noexcept;
/// The entry that its schema calls the event's message.
[[nodiscard]] EventText message_in(std::uint32_t domain, const NvtxPayload& payload) noexcept;

}  // namespace rangefinder
