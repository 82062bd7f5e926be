// SPDX-License-Identifier: Apache-2.0
//
// The work on each GPU over time, as spans in which the set of running work does not change.
//
//   stream 7   ──[ kernel ]────────[ kernel ]──
//   stream 13  ───────[ copy ]─────────────────
//   spans      ──|  k |kc| c |  -  |   k   |       ─▶ GpuSpan, in time order per GPU
//
// From the first start to the last end on a GPU, spans follow each other: idle spans are included. Only the
// idle part of a gap line is in no span, because what the GPU did there is unknown. Work may arrive out of
// order as far as time_order.h allows. For later work, the part inside spans already visited is omitted and
// counted in late_ns(). Memory grows with streams and with work that runs at the same time, not with records.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "profiler/attribution/time_order.h"
#include "schema/record.h"

namespace rangefinder {

/// CUPTI's stream ids are unique only within a context.
struct StreamKey {
  std::uint32_t gpu = 0, context = 0, stream = 0;
  auto operator<=>(const StreamKey&) const = default;
};

struct GpuSpan {
  TimeNs from_ns = 0, to_ns = 0;  ///< never empty
  std::uint32_t gpu = 0;
  std::uint32_t kernels = 0, copies = 0;  ///< running; memsets count as copies
  std::size_t streams = 0;                ///< busy

  [[nodiscard]] std::uint64_t ns() const noexcept { return static_cast<std::uint64_t>(to_ns - from_ns); }
  [[nodiscard]] bool idle() const noexcept { return kernels + copies == 0; }
};

struct StreamUse {
  std::uint64_t busy_ns = 0, alone_ns = 0;  ///< alone: no other stream of its GPU was busy
};

/// Not thread-safe.
class GpuTimeline {
 public:
  using Visit = std::function<void(const GpuSpan&)>;
  explicit GpuTimeline(Visit visit) : visit_(std::move(visit)) {}

  /// Work without times has no effect.
  void add(const GpuWork& work, bool is_kernel);
  /// Call it before the work after the gap.
  void add(const GapRecord& gap);
  /// Call it after the last work: visits the spans buffered for sorting. More work may follow.
  void finish();
  /// Of the spans that were visited. Call it after finish().
  [[nodiscard]] StreamUse used(const StreamKey& stream) const {
    const auto at = streams_.find(stream);
    return at == streams_.end() ? StreamUse() : at->second.busy;
  }
  /// Time of work that arrived too late and is missing in the spans.
  [[nodiscard]] std::uint64_t late_ns() const noexcept { return late_ns_; }

 private:
  struct Work {
    TimeNs at_ns, end_ns;
    StreamKey stream;
    bool is_kernel;
  };
  struct Stream {
    StreamUse busy;
    std::uint32_t works = 0;  // running
    TimeNs since_ns = 0;      // they run
    std::size_t place = 0;    // in Gpu::busy
  };
  struct Running {
    TimeNs end_ns;
    Stream* stream;
    bool is_kernel;
    /// Of std::push_heap: the first to end is in front.
    bool operator<(const Running& other) const noexcept { return other.end_ns < end_ns; }
  };
  struct Gpu {
    TimeNs now_ns = kNoTime;       // end of the spans visited so far
    std::vector<Running> running;  // at now_ns; a heap, as a damaged trace has any number
    std::uint32_t kernels = 0, copies = 0;
    std::vector<Stream*> busy;
    std::size_t gap = 0;  // in gaps_: the first that may end after now_ns
  };
  void start(const Work& work);
  void show(Gpu& gpu, std::uint32_t id, TimeNs until);
  void show_part(Gpu& gpu, std::uint32_t id, TimeNs until);
  void advance(Gpu& gpu, std::uint32_t id, TimeNs until);
  static void stop_first(Gpu& gpu);

  Visit visit_;
  TimeOrder<Work> order_;
  std::map<std::uint32_t, Gpu> gpus_;
  std::map<StreamKey, Stream> streams_;
  std::uint32_t latest_id_ = 0;
  Gpu* latest_ = nullptr;  // its element of gpus_: most work is of one GPU
  struct Unknown {
    TimeNs start_ns, end_ns;
  };
  std::vector<Unknown> gaps_;  // in order of time
  std::uint64_t late_ns_ = 0;
};

}  // namespace rangefinder
