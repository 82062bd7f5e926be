// SPDX-License-Identifier: Apache-2.0
//
// Allocated memory over time, in total and by the path that allocated it.
//
//   alloc, free lines ─▶ in time order ─▶ live by address ─┬─▶ totals per path, parents included
//                                                          ├─▶ totals per kind
//                                                          └─▶ peak over time, in at most 32 slices
//
// Memory belongs to the path open at its allocation, and to that path's ancestors, until it is freed
// anywhere. GPU memory and pinned host memory are counted separately. A free of memory allocated before the
// recording is only counted. Keeps live blocks, plus 16 bytes per call to count calls by iteration.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/attribution/time_order.h"
#include "schema/record.h"

namespace rangefinder {

inline constexpr std::size_t kAllocKinds = static_cast<std::size_t>(AllocKind::pool) + 1;

/// Pinned host memory. All other kinds are GPU memory (managed memory may be on either side).
[[nodiscard]] inline bool is_host_memory(AllocKind kind) noexcept {
  return kind == AllocKind::host;
}

/// Bytes currently allocated, and their peak.
struct LiveBytes {
  std::uint64_t now = 0, peak = 0;
  std::uint64_t kept = 0, kept_of = 0;  ///< bytes at a peak of all paths, and its number
  /// Call it before a change. `number`: of the latest peak.
  void keep(std::uint64_t number) noexcept {
    if (kept_of != number) kept = now, kept_of = number;
  }
  [[nodiscard]] std::uint64_t at(std::uint64_t number) const noexcept {
    return kept_of == number ? kept : now;
  }
  void grow(std::uint64_t bytes) noexcept {
    now += bytes;
    if (now > peak) peak = now;
  }
  void shrink(std::uint64_t bytes) noexcept { now -= bytes; }
};

struct MemoryTotals {
  LiveBytes gpu, host;
  std::uint64_t allocations = 0, frees = 0;  ///< frees: of memory allocated in this path
  std::uint64_t bytes = 0;                   ///< of all allocations
  std::uint64_t call_ns = 0;                 ///< time in the calls that allocate or free
};

/// A slice of the time line.
struct MemorySlice {
  TimeNs from_ns = 0;
  std::uint64_t gpu_peak = 0, host_peak = 0;  ///< within it
};

/// An allocation, or a free of memory whose allocation was recorded.
struct MemoryCall {
  TimeNs at_ns = 0;        ///< start of the call
  std::uint32_t path = 0;  ///< that allocated the memory
  AllocKind kind = AllocKind::device;
  bool is_free = false;
};

/// Memory of one path and kind that was not freed.
struct LiveMemory {
  std::uint64_t count = 0, bytes = 0;
  TimeNs oldest_ns = kMaxNs;
};

/// Not thread-safe.
class MemoryUse {
 public:
  /// Call it before the first allocation in that path.
  void add(const PathRecord& path) { parents_.emplace(path.id, path.parent < path.id ? path.parent : 0); }
  void add(const AllocRecord& record);
  /// Call it after the last line, before the functions below. More lines may follow.
  void finish();

  /// By path, including the paths below it; 0: all.
  [[nodiscard]] const std::map<std::uint32_t, MemoryTotals>& paths() const noexcept { return paths_; }
  /// Its part of the largest GPU memory of all paths.
  [[nodiscard]] std::uint64_t gpu_at_peak(const MemoryTotals& totals) const noexcept {
    return totals.gpu.at(gpu_peaks_);
  }
  [[nodiscard]] const std::array<MemoryTotals, kAllocKinds>& kinds() const noexcept { return kinds_; }
  [[nodiscard]] std::map<std::pair<std::uint32_t, AllocKind>, LiveMemory> live() const;
  [[nodiscard]] const std::vector<MemorySlice>& slices() const noexcept { return slices_; }
  [[nodiscard]] std::uint64_t unknown_frees() const noexcept { return unknown_frees_; }
  [[nodiscard]] const std::vector<MemoryCall>& calls() const noexcept { return calls_; }

 private:
  struct Step {
    TimeNs at_ns;  // an allocation lives from the end of its call to the start of the free
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
  void apply(const Step& step);
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
  std::uint64_t gpu_peaks_ = 0;  // how often all GPU memory reached a new peak
};

}  // namespace rangefinder
