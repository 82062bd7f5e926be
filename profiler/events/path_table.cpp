// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/path_table.h"

#include <algorithm>
#include <new>

#include "profiler/events/name_table.h"
#include "profiler/guest/host_lock.h"

namespace rangefinder {
namespace {

constexpr std::size_t kFirstPathIndex = 1024;

std::size_t hash_node(const PathNode& node) noexcept {
  std::uint64_t hash = (std::uint64_t{node.parent} << 32 | node.name) * 0x9E3779B97F4A7C15;
  hash ^= hash >> 29;
  hash += std::uint64_t{node.domain} * 0xD6E8FEB86659FD93;
  hash *= 0xA0761D6478BD642F;
  return hash ^ hash >> 32;
}

bool same(const PathNode& a, const PathNode& b) noexcept {
  return a.parent == b.parent && a.name == b.name && a.domain == b.domain;
}

}  // namespace

PathTable::PathTable(LossLedger& loss) : loss_(loss) {
  size_.store(kOtherPath, std::memory_order_relaxed);
}

PathTable::~PathTable() {
  for (auto& chunk : chunks_) delete[] chunk.load(std::memory_order_relaxed);
}

PathNode PathTable::node(std::uint32_t id) const noexcept {
  if (id == kOtherPath) return {0, kOtherName, 0};
  if (id == 0 || id > size()) return {};
  return chunks_[id / kChunk].load(std::memory_order_acquire)[id % kChunk];
}

std::uint32_t PathTable::child(const PathNode& wanted) noexcept {
  try {
    const HostLock lock(mutex_);
    const std::size_t hash = hash_node(wanted);
    for (std::size_t i = hash; lock && !index_.empty(); ++i) {
      const std::uint32_t id = index_[i & (index_.size() - 1)];
      if (id == 0) break;
      if (same(node(id), wanted)) return id;
    }
    const std::uint32_t id = size_.load(std::memory_order_relaxed) + 1;
    if (lock && id <= kMaxPaths) {
      add(id, wanted, hash);
      return id;
    }
  } catch (...) {  // out of memory: treated like a full table, as is a refused lock
  }
  loss_.add(Loss::paths_folded);
  return kOtherPath;
}

// With mutex_ held. Everything that can throw comes before the first lasting change.
void PathTable::add(std::uint32_t id, const PathNode& added, std::size_t hash) {
  if (index_.size() < std::size_t{id} * 2) grow_index();
  std::atomic<PathNode*>& chunk = chunks_[id / kChunk];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    chunk.store(new PathNode[kChunk], std::memory_order_release);
  }
  chunk.load(std::memory_order_relaxed)[id % kChunk] = added;
  std::size_t i = hash;
  while (index_[i & (index_.size() - 1)] != 0) ++i;
  index_[i & (index_.size() - 1)] = id;
  size_.store(id, std::memory_order_release);
}

void PathTable::grow_index() {
  std::vector<std::uint32_t> bigger(std::max(kFirstPathIndex, index_.size() * 2));
  for (const std::uint32_t id : index_) {
    if (id == 0) continue;
    std::size_t i = hash_node(node(id));
    while (bigger[i & (bigger.size() - 1)] != 0) ++i;
    bigger[i & (bigger.size() - 1)] = id;
  }
  index_.swap(bigger);
}

}  // namespace rangefinder
