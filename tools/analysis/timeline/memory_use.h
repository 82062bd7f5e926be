// SPDX-License-Identifier: Apache-2.0
//
// How much memory was allocated at any moment, in all and by the path that allocated it.
//
//   alloc, free lines ─▶ in order of time ─▶ live by address ─┬─▶ totals per path, parents included
//                                                             ├─▶ totals per kind
//                                                             └─▶ peak over time, in at most 32 slices
//
// Memory counts for the path open where it was allocated, and for those above it, until it is freed,
// wherever that is. GPU memory and pinned host memory are two accounts. A free of what was allocated
// before recording began changes nothing and is counted. Keeps what is live, and sixteen bytes a call for
// counting them by iteration.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/timeline/time_order.h"

namespace rangefinder {

inline constexpr std::size_t kAllocKinds = static_cast<std::size_t>(AllocKind::pool) + 1;

/// Pinned memory of the host; all other kinds are memory of a GPU (managed may be on either side).
[[nodiscard]] inline bool is_host_memory(AllocKind kind) noexcept {
  return kind == AllocKind::host;
}

/// Bytes that are allocated, and the most there were at once.
struct LiveBytes {
  std::uint64_t now = 0, peak = 0;
  void grow(std::uint64_t bytes) noexcept {
    now += bytes;
    if (now > peak) peak = now;
  }
  void shrink(std::uint64_t bytes) noexcept { now -= bytes; }
};

struct MemoryTotals {
  LiveBytes gpu, host;
  std::uint64_t allocations = 0, frees = 0;  ///< frees: of what was allocated here
  std::uint64_t bytes = 0;                   ///< of all allocations
  std::uint64_t call_ns = 0;                 ///< in the calls that allocate or free
};

/// A slice of the time line.
struct MemorySlice {
  TimeNs from_ns = 0;
  std::uint64_t gpu_peak = 0, host_peak = 0;  ///< within it
};

/// An allocation, or a free of what was allocated here.
struct MemoryCall {
  TimeNs at_ns = 0;        ///< begin of the call
  std::uint32_t path = 0;  ///< that allocated the memory
  AllocKind kind = AllocKind::device;
  bool is_free = false;
};

/// What was not freed, by path and kind.
struct LiveMemory {
  std::uint64_t count = 0, bytes = 0;
  TimeNs oldest_ns = kMaxNs;
};

/// Not thread-safe.
class MemoryUse {
 public:
  /// Before the first allocation in that path.
  void add(const PathRecord& path) { parents_.emplace(path.id, path.parent < path.id ? path.parent : 0); }
  void add(const AllocRecord& record);
  /// After the last line, before what is below. More may follow.
  void finish();

  /// By path, what is below included; 0: all.
  [[nodiscard]] const std::map<std::uint32_t, MemoryTotals>& paths() const noexcept { return paths_; }
  [[nodiscard]] const std::array<MemoryTotals, kAllocKinds>& kinds() const noexcept { return kinds_; }
  [[nodiscard]] std::map<std::pair<std::uint32_t, AllocKind>, LiveMemory> live() const;
  [[nodiscard]] const std::vector<MemorySlice>& slices() const noexcept { return slices_; }
  [[nodiscard]] std::uint64_t unknown_frees() const noexcept { return unknown_frees_; }
  [[nodiscard]] const std::vector<MemoryCall>& calls() const noexcept { return calls_; }

 private:
  struct Step {
    TimeNs at_ns;  // an allocation exists when the call ends, is gone when the free begins
    TimeNs start_ns;
    std::uint64_t address, bytes, call_ns;
    std::uint32_t path;
    AllocKind kind;
    bool is_free;
  };
  struct Block {
    TimeNs at_ns;
    std::uint64_t bytes;
    std::uint32_t path;
    AllocKind kind;
  };
  void take(const Step& step);
  void release(const Block& block);
  void show(TimeNs at);
  template <typename Visit>
  void each_total(std::uint32_t path, AllocKind kind, Visit&& visit);

  TimeOrder<Step> order_;
  std::unordered_map<std::uint32_t, std::uint32_t> parents_;
  std::unordered_map<std::uint64_t, Block> blocks_;  // live, by address
  std::map<std::uint32_t, MemoryTotals> paths_;
  std::array<MemoryTotals, kAllocKinds> kinds_;
  std::vector<MemoryCall> calls_;
  std::vector<MemorySlice> slices_;
  TimeNs slice_ns_ = 1;
  std::uint64_t unknown_frees_ = 0;
};

}  // namespace rangefinder
