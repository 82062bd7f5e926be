// SPDX-License-Identifier: Apache-2.0
//
// Memory in use over time, from alloc and free lines, in bounded memory.
//
// Device memory is what device, managed and async allocations hold; pinned host memory stands beside it.
// What was allocated before recording began is not seen. When there are too many points, neighbours
// merge and the larger values stay: peaks are kept. Not thread-safe.
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
  explicit MemoryPoints(std::size_t most) : most_(most) {}

  void add(const AllocRecord& record);
  /// By time.
  [[nodiscard]] std::vector<MemoryPoint> take();

 private:
  struct Block {
    std::uint64_t bytes;
    bool host;
  };
  std::size_t most_;
  std::unordered_map<std::uint64_t, Block> live_;  // by address
  MemoryPoint now_;
  std::vector<MemoryPoint> points_;
};

}  // namespace rangefinder
