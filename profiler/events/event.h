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
#include <type_traits>

namespace rangefinder {

inline constexpr std::uint32_t kEventLogVersion = 2;

enum class EventKind : std::uint8_t {
  none = 0,
  launch,
  range,
  range_start_end,  // in the ring of the thread that ended it
  mark,
  sync,
  alloc,  // extra slots: the pool
  free,
  event_record,
  event_wait,
  capture,
  thread_name,
  category_name,
  graph_node,
  payload_schema,
  hold,
  module_source,
  kernel_origin,
};

/// Whether events of this kind name lines of the program's source.
[[nodiscard]] constexpr bool has_source_lines(EventKind kind) noexcept {
  return kind == EventKind::module_source || kind == EventKind::kernel_origin;
}

/// `flags` of a launch.
inline constexpr std::uint8_t kLaunchCaptured = 1;  ///< it made a graph node, and no work yet
/// A graph launch whose exact line follows: lets its many records be joined before its batch is decoded.
inline constexpr std::uint8_t kLaunchExact = 2;
/// `flags` of an event of a driver call: path and range are those of another thread (ThreadState::place()).
inline constexpr std::uint8_t kInherited = 0x80;
/// `flags` of a range.
inline constexpr std::uint8_t kRangeUnclosed = 1;  ///< still open when recording stopped; end_ns is kNoTime

/// What a generated kernel computes, of one line of the program. NameTable ids.
struct GeneratedKernel {
  std::uint32_t kernel, operators;
  std::uint32_t file, line;  ///< 0: unknown
  bool operator==(const GeneratedKernel&) const = default;
};

/// A "name" is a NameTable id.
struct Event {
  EventKind kind = EventKind::none;
  std::uint8_t flags = 0;        ///< see above; alloc, free: AllocKind; capture: CaptureStep; hold: HoldCause
  std::uint8_t extra_slots = 0;  ///< slots of extended payload that follow in the ring
  std::uint8_t payload_type = 0;  ///< PayloadType of `nvtx.payload`
  std::uint16_t api = 0;          ///< index into kDriverApis (launch/driver_apis.h)
  std::uint16_t extra_bytes = 0;  ///< bytes in use in the extra slots
  union {
    std::uint32_t correlation = 0;  ///< of the API call
    std::uint32_t color;            ///< ARGB; range, range_start_end, mark
  };
  std::uint32_t path = 0;     ///< open on the thread, or inherited; range events: their own path
  std::uint64_t range = 0;    ///< innermost open range; range events: their own id
  std::int64_t start_ns = 0;  ///< CLOCK_REALTIME, absolute
  std::int64_t end_ns = 0;
  // By kind. The first member is as large as the union, so that no byte is uninitialised: recordings are
  // reproducible.
  union {
    struct {
      std::uint64_t payload;       ///< bits of the value
      std::uint32_t name;          ///< not of a range: its path has the name
      std::uint32_t start_thread;  ///< range_start_end only
      std::uint32_t domain, category;
    } nvtx{};  ///< range, range_start_end, mark, category_name
    struct {
      std::uint64_t bytes;         ///< graph: id of a LaunchedGraph (graph_table.h); 0: unknown
      std::uint32_t kernel, : 32;  ///< name; 0: use that of the GPU record
      std::int32_t result;
      std::uint32_t context;
    } launch;
    struct {
      std::uint64_t address, bytes;  ///< bytes: alloc only
      std::uint32_t stream, context;
    } memory;  ///< alloc, free
    struct {
      std::uint64_t event, : 64;  ///< handle
      std::uint32_t stream, context;
    } sync;  ///< sync, event_record, event_wait
    struct {
      std::uint64_t graph;  ///< handle
      std::int32_t result, : 32;
      std::uint32_t stream, context;
    } capture;
    struct {
      std::uint64_t node, original;  ///< original: it was cloned from this node; 0: from none
      std::uint32_t kernel;          ///< as of a launch
    } graph;                         ///< graph_node: in old recordings only
    struct {
      std::uint64_t id;
      std::uint32_t definition, : 32;  ///< name
      std::uint32_t domain;
    } schema;  ///< payload_schema
    struct {
      std::uint64_t : 64;
      std::uint32_t name, : 32;
      std::uint32_t id;
    } thread;  ///< thread_name
    struct {
      std::uint64_t module;                 ///< module_chain(): its name and those of the modules around it
      std::uint32_t class_file, call_file;  ///< names; 0: unknown
      std::uint32_t class_line, call_line;
    } source;                ///< module_source; `path` is the module's
    GeneratedKernel origin;  ///< kernel_origin; `path` is that of the launch
  };
};
static_assert(sizeof(Event) == 64 && sizeof(Event::nvtx) == 24 && std::is_trivially_copyable_v<Event>);

// Extra slots of an NVTX event hold the schema id (8 bytes), then the data of an
// extended payload; longer data is cut and counted. Those of an alloc hold the handle
// of its pool (8 bytes).
inline constexpr std::uint32_t kMaxPayloadBytes = 4096;

}  // namespace rangefinder
