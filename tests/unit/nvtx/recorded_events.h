// SPDX-License-Identifier: Apache-2.0
//
// Gives tests the events in the process's recorder after their NVTX calls.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <cstring>
#include <string>
#include <vector>

#include "profiler/events/recorder.h"

namespace rangefinder {

struct Seen {
  Event event;
  std::uint32_t thread = 0;
  std::string extra;  ///< without the schema id
  std::uint64_t schema = 0;
};

/// Attributes with only a text.
inline nvtxEventAttributes_t event_of(const char* text) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text;
  return event;
}

/// Everything recorded since the last call, of all threads.
inline std::vector<Seen> take_events() {
  std::vector<Seen> all;
  recorder().threads.for_each([&all](ThreadState& state) {
    state.ring().drain([&](const Event& event) {
      Seen seen{event, state.thread(), std::string(event.extra_bytes, '\0'), 0};
      if (event.extra_bytes != 0) {
        state.ring().extra(reinterpret_cast<std::byte*>(seen.extra.data()), seen.extra.size());
        std::memcpy(&seen.schema, seen.extra.data(), sizeof seen.schema);
        seen.extra.erase(0, sizeof seen.schema);
      }
      all.push_back(seen);
    });
  });
  return all;
}

inline std::string name_text(std::uint64_t id) {
  return std::string(recorder().names.text(static_cast<std::uint32_t>(id)));
}

inline std::string path_name(std::uint32_t path) {
  return name_text(recorder().paths.node(path).name);
}

/// Name of the innermost open range of this thread; "": none is open.
inline std::string open_name() {
  return path_name(recorder().threads.current()->stack().path());
}

/// Counts of `cause` while `action` ran.
template <typename Action>
std::uint64_t counted(Loss cause, const Action& action) {
  const std::uint64_t before = recorder().loss.get(cause);
  action();
  return recorder().loss.get(cause) - before;
}

}  // namespace rangefinder
