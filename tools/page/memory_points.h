// SPDX-License-Identifier: Apache-2.0
//
// Memory in use over time, from alloc and free lines, in bounded memory.
//
// Device memory includes device, managed and async allocations; pinned host memory is separate. Memory
// allocated before the recording is unknown. If there are too many points, neighbours are merged to their
// maximum, so peaks are kept. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

struct MemoryPoint {
  TimeNs at_ns = 0;
  std::uint64_t device_bytes = 0, host_bytes = 0;
};

class MemoryPoints {
 public:
  explicit MemoryPoints(std::size_t limit) : limit_(limit) {}

  void add(const AllocRecord& record);
  /// The points sorted by time; the object is empty afterwards.
  [[nodiscard]] std::vector<MemoryPoint> extract();

 private:
  struct Block {
    std::uint64_t bytes;
    bool host;
  };
  std::size_t limit_;
  std::unordered_map<std::uint64_t, Block> live_;  // by address
  MemoryPoint now_;
  std::vector<MemoryPoint> points_;
};

}  // namespace rangefinder
