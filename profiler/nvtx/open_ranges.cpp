// SPDX-License-Identifier: Apache-2.0
#include "profiler/nvtx/open_ranges.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "profiler/guest/never_destroyed.h"
namespace rangefinder {

std::size_t OpenRanges::home(std::uint64_t key) noexcept {
  return static_cast<std::size_t>((key / kParts * 0x9E3779B97F4A7C15) >> 51);
}

// Slot of `key`, or the free slot where it belongs. The index is never full: kPartRanges < kIndexSlots.
std::size_t OpenRanges::find(const Part& part, std::uint64_t key) noexcept {
  std::size_t slot = home(key);
  while (part.index[slot] != 0 && part.pool[part.index[slot] - 1].key != key) slot = (slot + 1) % kIndexSlots;
  return slot;
}

// Later entries of the same run move up, so that no search stops early at the gap.
void OpenRanges::erase(Part& part, std::size_t slot) noexcept {
  part.free[part.free_count++] = part.index[slot];
  for (std::size_t next = (slot + 1) % kIndexSlots; part.index[next] != 0; next = (next + 1) % kIndexSlots) {
    const std::size_t wanted = home(part.pool[part.index[next] - 1].key);
    if ((next - wanted) % kIndexSlots < (next - slot) % kIndexSlots) continue;
    part.index[slot] = part.index[next];
    slot = next;
  }
  part.index[slot] = 0;
}

bool OpenRanges::add(StartedRange range) noexcept {
  StartedRange replaced;
  bool added = false;
  if (open_.fetch_add(1, std::memory_order_relaxed) < kMaxOpen) {
    Part& part = parts_[range.key % kParts];
    const HostLock lock(part.mutex);
    // Not initialised, so that unused pages are never touched.
    if (lock && part.pool == nullptr) {
      part.pool =
          static_cast<StartedRange*>(::operator new(kPartRanges * sizeof(StartedRange), std::nothrow));
    }
    if (lock && part.pool != nullptr) {
      const std::size_t slot = find(part, range.key);
      const bool known = part.index[slot] != 0;
      if (known) replaced = part.pool[part.index[slot] - 1];
      if (known) open_.fetch_sub(1, std::memory_order_relaxed);
      if (!known && part.free_count != 0) part.index[slot] = part.free[--part.free_count];
      if (!known && part.index[slot] == 0 && part.made < kPartRanges) part.index[slot] = ++part.made;
      added = part.index[slot] != 0;
      if (added) part.pool[part.index[slot] - 1] = range;
    }
  }
  free_payload(replaced);
  if (added) return true;
  open_.fetch_sub(1, std::memory_order_relaxed);
  free_payload(range);
  return false;
}

bool OpenRanges::take(std::uint64_t key, StartedRange& range) noexcept {
  Part& part = parts_[key % kParts];
  const HostLock lock(part.mutex);
  if (!lock || part.pool == nullptr) return false;
  const std::size_t slot = find(part, key);
  if (part.index[slot] == 0) return false;
  range = part.pool[part.index[slot] - 1];
  erase(part, slot);
  open_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

bool OpenRanges::keep_payload(StartedRange& range, const NvtxPayload& payload) noexcept {
  if (payload_bytes_.fetch_add(payload.bytes, std::memory_order_relaxed) + payload.bytes >
      kMaxPayloadsBytes) {
    payload_bytes_.fetch_sub(payload.bytes, std::memory_order_relaxed);
    return false;
  }
  range.extended = new (std::nothrow) std::byte[std::max<std::size_t>(payload.bytes, 1)];
  if (range.extended == nullptr) {
    payload_bytes_.fetch_sub(payload.bytes, std::memory_order_relaxed);
    return false;
  }
  if (payload.bytes != 0) std::memcpy(range.extended, payload.data, payload.bytes);
  range.extended_bytes = static_cast<std::uint32_t>(payload.bytes);
  range.extended_schema = payload.schema;
  return true;
}

void OpenRanges::free_payload(StartedRange& range) noexcept {
  if (range.extended == nullptr) return;
  payload_bytes_.fetch_sub(range.extended_bytes, std::memory_order_relaxed);
  delete[] range.extended;
  range.extended = nullptr;
}

void OpenRanges::add_to(ForkLocks& locks) noexcept {
  static_assert(kParts + 8 <= ForkLocks::kMax);  // room for the other locks
  for (Part& part : parts_) locks.add(part.mutex);
}

OpenRanges& open_ranges() noexcept {
  return never_destroyed<OpenRanges>();
}

}  // namespace rangefinder
