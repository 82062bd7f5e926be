// SPDX-License-Identifier: Apache-2.0
//
// Which calls cannot be captured in a CUDA graph. The findings `unsafe_during_capture` and
// `capture_obstacles`, and `report --section graphs --check`, read it here, so that they agree.
//
//   calls ─▶ CaptureCalls ─▶ counts()          calls that a thread made while it captured
//                                              and the call, on any thread, that made a capture invalid
//   FindingContext ───────▶ loop_calls()       calls of the iterations, and what prevents their capture
//
// Forbidden: waiting for the GPU, synchronous copies, allocating outside of a pool, and the legacy default
// stream, which waits for the captured stream. Does not know the capture's mode, which the trace lacks: the
// relaxed mode allows some of these calls. CUDA's programming guide, "Creating a Graph Using Stream Capture".
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

struct FindingContext;

enum class CaptureObstacle : std::uint8_t {
  none,  ///< can be captured
  wait,
  synchronous_copy,  ///< or memset
  pageable_copy,
  allocation,  ///< outside of a pool
  free,
  default_stream,   ///< legacy
  error,            ///< the call failed
  invalid_capture,  ///< the capture ended without a graph, and no call that broke it is in the trace
  broke_capture     ///< on any thread
};

/// Texts for people, in a few words.
struct CaptureAdvice {
  std::string_view why;      ///< empty: `none`, and `error`, whose reason is its result
  std::string_view instead;  ///< what to use in place of the call
};
[[nodiscard]] CaptureAdvice capture_advice(CaptureObstacle obstacle) noexcept;

/// CUresult of a call that failed: the name of cuda.h for 900 to 908, else the number.
[[nodiscard]] std::string capture_error_text(std::int32_t result);

/// By call, path and obstacle.
struct CaptureCall {
  std::uint32_t path = 0;
  std::string api;
  CaptureObstacle obstacle = CaptureObstacle::none;
  std::int32_t result = 0;    ///< CUresult
  bool valid_capture = true;  ///< false: the capture in which it was made ended without a graph
  std::uint32_t thread = 0;   ///< broke_capture: on which it was made
  std::uint32_t broken = 0;   ///< broke_capture: path of the capture's end
  bool elsewhere = false;     ///< broke_capture: another thread captured
  auto operator<=>(const CaptureCall&) const = default;
};
using CaptureCounts = std::map<CaptureCall, std::uint64_t>;

/// The calls of captures, by thread. Memory: paths times calls, 16 bytes per capture, 64 per failed call.
class CaptureCalls {
 public:
  // The driver calls of host threads, each thread's in order of start.
  void add(const CaptureRecord& step);
  void add(const SyncRecord& sync) { put(sync.host, sync.api, CaptureObstacle::wait); }
  void add(const AllocRecord& alloc);
  void add(const EventRecord& event) {
    put(event.host, event.wait ? "cuStreamWaitEvent" : "cuEventRecord", CaptureObstacle::none);
  }
  void add(const LaunchRecord& launch);
  void add(const ExactRecord& exact) { add(exact.launch); }
  /// Of captures that have ended, and of those that had not when the trace ended. A capture that failed is a
  /// `broke_capture`, or an `invalid_capture` if the call that broke it is not in the trace.
  [[nodiscard]] CaptureCounts counts() const;

  [[nodiscard]] std::uint64_t captures() const noexcept { return captures_; }
  [[nodiscard]] std::uint64_t invalid() const noexcept { return invalid_; }
  /// Whether the thread captured at that time.
  [[nodiscard]] bool capturing(std::uint32_t thread, TimeNs time) const;
  /// A graph was launched from one of these paths.
  [[nodiscard]] bool launches_graph(const std::unordered_set<std::uint32_t>& paths) const;

 private:
  struct Interval {
    TimeNs start_ns = 0, end_ns = 0;
  };
  struct Open {
    TimeNs start_ns = 0;
    CaptureCounts calls;
  };
  struct Broken {
    Interval time;
    std::uint32_t thread = 0, path = 0;
    std::int32_t result = 0;
  };
  /// A call that stream capture forbids, on any thread.
  struct Offence {
    Interval time;
    bool is_launch = false;  ///< has a row of its own if its thread captured
    CaptureCall call;
  };
  void add_offence(const HostWork& host, std::string_view api, std::int32_t result, bool is_launch);
  void add_broken(CaptureCounts& counts) const;
  void put(const HostWork& host, std::string_view api, CaptureObstacle obstacle, std::int32_t result = 0);

  std::unordered_map<std::uint32_t, Open> open_;                    // by thread
  std::unordered_map<std::uint32_t, std::vector<Interval>> ended_;  // by thread, in order of time
  std::unordered_set<std::uint32_t> graph_paths_;
  CaptureCounts counts_;
  std::vector<Broken> broken_;
  std::vector<Offence> offences_;
  std::uint64_t captures_ = 0, invalid_ = 0;
};

/// Whether the iterations of the loop launch graphs: they are captured already.
[[nodiscard]] bool loop_uses_graphs(const FindingContext& context);
/// Calls in the analysed iterations, outside of captures, with what prevents their capture, or `none`. Lacks
/// launches that can be captured. Empty without a loop.
[[nodiscard]] CaptureCounts loop_calls(const FindingContext& context);

}  // namespace rangefinder
