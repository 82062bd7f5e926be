// SPDX-License-Identifier: Apache-2.0
//
// One event on a host thread: an NVTX range that closed, a launch that returned, an
// allocation. 64 bytes, no pointer, no text.
//
//   app thread ── Event ──▶ EventRing of the thread ──▶ drain thread ──▶ records, lines
//
// A recorded run stores events byte for byte (drain/recording.h): increase
// kEventLogVersion when the meaning of a field changes.
#pragma once

#include <cstdint>

namespace rangefinder {

inline constexpr std::uint32_t kEventLogVersion = 2;

// The columns are Event::a, b, c, d; "name" is a NameTable id.
enum class EventKind : std::uint8_t {
  none = 0,
  // kind             a              b                        c           d
  launch,  // bytes          kernel's name or 0       result      context   0: use the GPU record's name
  range,   // payload bits   -                        domain      category
  range_start_end,  // payload bits   name | start thread << 32  domain    category   ring: of the end thread
  mark,             // payload bits   name                     domain      category
  sync,             // event handle   -                        stream id   context
  alloc,  // address        bytes                    stream id   context   flags: AllocKind; extra: pool
  free,   // address        -                        stream id   context   flags: AllocKind
  event_record,    // event handle   -                        stream id   context
  event_wait,      // event handle   -                        stream id   context
  capture,         // graph handle   result                   stream id   context   flags: CaptureStep
  thread_name,     // -              name                     thread id   -
  category_name,   // -              name                     domain      category
  graph_node,      // node id        id it was cloned from    kernel's name or 0, as of a launch
  payload_schema,  // schema id      name of the definition   domain      -
};

/// `flags` of a launch.
inline constexpr std::uint8_t kLaunchWhileCapturing = 1;  ///< some stream of the process was capturing
/// `flags` of a range.
inline constexpr std::uint8_t kRangeUnclosed = 1;  ///< still open when recording stopped; end_ns is kNoTime

struct Event {
  EventKind kind = EventKind::none;
  std::uint8_t flags = 0;
  std::uint8_t extra_slots = 0;   ///< slots of extended payload that follow in the ring
  std::uint8_t payload_type = 0;  ///< PayloadType of `a`; NVTX events only
  std::uint16_t api = 0;          ///< index into kDriverApis (launch/driver_apis.h)
  std::uint16_t extra_bytes = 0;  ///< bytes in use in the extra slots
  /// Correlation id of the API call; NVTX events: colour (ARGB).
  std::uint32_t correlation = 0;
  std::uint32_t path = 0;     ///< open on the thread; range events: their own path
  std::uint64_t range = 0;    ///< innermost open range; range events: their own id
  std::int64_t start_ns = 0;  ///< CLOCK_REALTIME, absolute
  std::int64_t end_ns = 0;
  std::uint64_t a = 0, b = 0;
  std::uint32_t c = 0, d = 0;
};
static_assert(sizeof(Event) == 64);

// Extra slots of an NVTX event hold the schema id (8 bytes), then the data of an
// extended payload; longer data is cut and counted. Those of an alloc hold the handle
// of its pool (8 bytes).
inline constexpr std::uint32_t kMaxPayloadBytes = 4096;

}  // namespace rangefinder
