// SPDX-License-Identifier: Apache-2.0
//
// Computes when work on a stream really starts to run.
//
// With programmatic dependent launch a kernel starts before its predecessor ends, and then waits for
// it. Records overlap: on an H200, RT-DETR's layer norms of 1.7 us have records of up to 15 us. But
// bytes move one kernel after another. So, for sharing bytes, work begins when the stream's previous
// work has ended.
//
// Graph nodes are not changed: they all carry one stream, but may run concurrently.
// Pure. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "schema/record.h"

namespace rangefinder {

class StreamOrder {
 public:
  /// Maximum number of tracked streams. Work of others begins at its record's start.
  static constexpr std::size_t kMaxStreams = std::size_t{1} << 16;

  /// Call in the order of a stream's records. The result is within the work's start and end.
  [[nodiscard]] TimeNs begin_of(const GpuWork& work) {
    if (work.graph != 0 || work.start_ns == kNoTime || work.end_ns <= work.start_ns) return work.start_ns;
    const Key key{work.gpu, work.context, work.stream};
    if (last_.size() >= kMaxStreams && last_.find(key) == last_.end()) return work.start_ns;
    Last& last = last_[key];
    // Records that are out of order are treated as independent.
    const bool waits = last.start_ns <= work.start_ns && work.start_ns < last.end_ns;
    const TimeNs begin = waits ? std::min(last.end_ns, work.end_ns - 1) : work.start_ns;
    last.start_ns = work.start_ns;
    last.end_ns = std::max(last.end_ns, work.end_ns);
    return begin;
  }

  void start_again() noexcept { last_.clear(); }

 private:
  struct Key {
    std::uint32_t gpu, context, stream;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      std::uint64_t hash = 0;
      for (const std::uint32_t part : {key.gpu, key.context, key.stream})
        hash = (hash ^ part) * 0x9E37'79B9'7F4A'7C15ULL;
      return static_cast<std::size_t>(hash ^ hash >> 31);
    }
  };
  struct Last {
    TimeNs start_ns = INT64_MIN, end_ns = INT64_MIN;
  };
  std::unordered_map<Key, Last, KeyHash> last_;
};

}  // namespace rangefinder
