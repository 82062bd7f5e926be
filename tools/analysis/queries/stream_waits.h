// SPDX-License-Identifier: Apache-2.0
//
// Waits of a stream for an event of another stream, and the idle time that each wait exposed.
//
//   host       event_record(e, P)      stream_wait(e, C)   launch of w
//   stream P   ──[ … ]──[ producer's last work ]─────────────────────
//   stream C   ──[ earlier work ]···········idle·│[ w ]──────────────
//                                    ◀─ exposed ─▶
//
// A wait refers to the latest record of its event before it. The exposed time starts when the consumer's
// earlier work has ended and its next work has been launched. It ends when the producer's work ends or the
// next work starts. Several waits before the same work are counted separately.
//
// Keeps 40 bytes per event call, launches until their work arrives, and one first start and last end for the
// work between two event calls of a stream. The order in a stream is that of the launches on the host.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/attribution/time_order.h"
#include "schema/record.h"
#include "tools/analysis/model/launched_work.h"

namespace rangefinder {

/// A wait of one stream for another whose event record is known.
struct StreamWait {
  /// CUPTI's ids: context, stream.
  std::pair<std::uint32_t, std::uint32_t> producer, consumer;
  std::uint32_t producer_path = 0, consumer_path = 0;  ///< of the record and of the wait
  TimeNs at_ns = 0;                                    ///< time of the wait call on the host
  std::uint64_t exposed_ns = 0;
  bool has_work = false;  ///< both sides have work with times; otherwise exposed_ns is meaningless
};

/// Not thread-safe.
class StreamWaits {
 public:
  /// Gives the id of the context's default stream, which event calls name 0.
  void add(const ContextRecord& context) { default_streams_[context.id] = context.null_stream; }
  void add(const EventRecord& event);
  void add(const LaunchRecord& launch);
  void add(const GpuWork& work);
  /// Work whose launch the caller knows.
  void add(const WorkEvent& event);
  /// Call it after the last line. Sorted by the time of the wait.
  [[nodiscard]] std::vector<StreamWait> waits();
  /// Waits within one stream, which cost nothing, and waits whose event has no record in the trace. Valid
  /// after waits().
  [[nodiscard]] std::uint64_t same_stream() const noexcept { return same_stream_; }
  [[nodiscard]] std::uint64_t unknown_event() const noexcept { return unknown_event_; }

 private:
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // context, stream
  /// Work on a stream between two of its event calls.
  struct Stretch {
    TimeNs launched_ns = kNoTime;  // end of the first launch call
    TimeNs first_ns = kNoTime, last_ns = kNoTime;
    [[nodiscard]] bool empty() const noexcept { return first_ns == kNoTime; }
  };
  struct Call {
    TimeNs at_ns = 0;
    std::uint64_t event = 0;
    std::uint32_t path = 0;
    bool wait = false;
    Stretch after;
  };
  struct Stream {
    Stretch before;           // before the first call
    std::vector<Call> calls;  // sorted by time
    [[nodiscard]] Stretch& at(TimeNs launch) noexcept;
    /// For each call, the latest end of work launched before it; kNoTime: none.
    [[nodiscard]] std::vector<TimeNs> ends_before_calls() const;
    /// For each call, the first work launched after it; nullptr: none.
    [[nodiscard]] std::vector<const Stretch*> work_from_calls() const;
  };
  struct Launch {
    TimeNs start_ns, end_ns;
  };
  struct Placed {  // work and its launch
    TimeNs at_ns, launched_ns, start_ns, end_ns;
    Key stream;
  };
  void place(const Launch& launch, Placed work);
  void put(const Placed& work);
  using Ends = std::map<Key, std::vector<TimeNs>>;
  [[nodiscard]] static StreamWait follow(const Call& wait, const Stretch* next, TimeNs consumer_end,
                                         TimeNs producer_end);

  std::unordered_map<std::uint32_t, std::uint32_t> default_streams_;  // by context
  std::map<Key, Stream> streams_;
  std::unordered_map<std::uint32_t, Launch> launches_;    // by correlation
  std::unordered_map<std::uint32_t, Launch> graphs_;      // the same for graphs; kept, all nodes share one
  std::unordered_multimap<std::uint32_t, Placed> works_;  // work whose launch has not arrived yet
  TimeOrder<Placed> order_;
  std::uint64_t same_stream_ = 0, unknown_event_ = 0;
};

}  // namespace rangefinder
