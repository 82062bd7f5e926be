// SPDX-License-Identifier: Apache-2.0
//
// Maps a path (parent path, name, domain) to a dense id and back. A path is the list of
// push/pop ranges open on a thread, outermost first; the table is the tree of all paths.
//
// Bounded (design rule 8): 65,536 paths. Further ones get kOtherPath and are counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/guest/host_mutex.h"
#include "schema/loss.h"

namespace rangefinder {

/// Path "(other)", without a parent, which replaces all paths that did not fit.
inline constexpr std::uint32_t kOtherPath = 1;

struct PathNode {
  std::uint32_t parent = 0;  ///< 0: outermost
  std::uint32_t name = 0;    ///< NameTable id
  std::uint32_t domain = 0;
};

class PathTable {
 public:
  static constexpr std::uint32_t kMaxPaths = 65'536;

  explicit PathTable(LossLedger& loss);
  ~PathTable();
  PathTable(const PathTable&) = delete;
  PathTable& operator=(const PathTable&) = delete;

  /// Id of the child of `parent`; any thread. Takes a lock. Never throws.
  [[nodiscard]] std::uint32_t child(const PathNode& node) noexcept;

  /// Node of an id that child() returned; any thread, no lock.
  [[nodiscard]] PathNode node(std::uint32_t id) const noexcept;

  /// Ids 1 … size() are in use.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_.load(std::memory_order_acquire); }

  /// Held during fork(), so that the child gets a consistent table.
  [[nodiscard]] HostMutex& mutex() noexcept { return mutex_; }

 private:
  static constexpr std::uint32_t kChunk = 4096;
  void add(std::uint32_t id, const PathNode& added, std::size_t hash);
  void grow_index();

  LossLedger& loss_;
  HostMutex mutex_;
  std::vector<std::uint32_t> index_;  // guarded by mutex_; open addressing, 0 = free
  std::atomic<PathNode*> chunks_[kMaxPaths / kChunk + 1]{};
  std::atomic<std::uint32_t> size_{0};
};

}  // namespace rangefinder
