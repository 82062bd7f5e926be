// SPDX-License-Identifier: Apache-2.0
//
// Passes the events of one thread to the drain thread: a ring of 64-byte slots.
//
//        write (app thread) ─┐             ┌─ read (drain thread)
//   [ ][ ][ e ][ e ][ e ][ ][ ]      full: the new event is dropped and counted
//
// One writer, one reader, no lock, no wait. The writer publishes with a release
// store that the reader acquires; the reader frees slots the same way.
//
// 8192 slots hold about 22 ms of RT-DETR with its ranges (docs/internals/measured.md). For a busy thread the
// reader adds a larger lane, and the writer continues there; the reader empties the smaller one first.
//
// The reader adds events of its own (ranges still open when recording stops) to a
// separate list, because the writer may still be active.
#pragma once

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <vector>

#include "profiler/events/event.h"

namespace rangefinder {

class EventRing {
 public:
  static constexpr std::size_t kSlots = 8192;         // 512 KiB
  static constexpr std::size_t kLargeSlots = 65'536;  // 4 MiB

  EventRing() noexcept = default;
  ~EventRing() {
    if (Lane* const large = large_.load(std::memory_order_relaxed); large != nullptr)
      munmap(static_cast<void*>(large), kLargeBytes);
  }
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;

  /// Writer. False: full, nothing was written. `event.extra_slots` must cover `extra`.
  [[nodiscard]] bool push(const Event& event, std::span<const std::byte> extra = {}) noexcept {
    const std::size_t slots = 1 + std::size_t{event.extra_slots};
    Lane& lane = writing();
    if (!lane.has_room(slots)) return false;
    const std::uint64_t write = lane.write.load(std::memory_order_relaxed);
    std::memcpy(lane.slot(write), &event, sizeof(Event));
    for (std::size_t i = 1, at = 0; i < slots && at < extra.size(); ++i, at += sizeof(Event)) {
      std::memcpy(lane.slot(write + i), extra.data() + at, std::min(sizeof(Event), extra.size() - at));
    }
    lane.write.store(write + slots, std::memory_order_release);
    return true;
  }

  /// Writer: the same for an event without extra slots, which `fill(Event&)` writes in place: copying
  /// an event right after it was written field by field stalls the processor.
  template <typename Fill>
  [[nodiscard]] bool push_in_place(Fill&& fill) noexcept {
    Lane& lane = writing();
    if (!lane.has_room(1)) return false;
    const std::uint64_t write = lane.write.load(std::memory_order_relaxed);
    fill(*new (lane.slot(write)) Event);
    lane.write.store(write + 1, std::memory_order_release);
    return true;
  }

  /// Writer: whether the reader is late and should be woken.
  [[nodiscard]] bool half_full() noexcept {
    const Lane& lane = writing();
    const std::uint64_t write = lane.write.load(std::memory_order_relaxed), half = (lane.mask + 1) / 2;
    return write - lane.read_seen >= half && write - lane.read.load(std::memory_order_relaxed) >= half;
  }

  /// Reader: calls `visit(const Event&)` for everything published, in order. An event with
  /// extra slots is visited once; `visit` reads them through extra().
  template <typename Visit>
  std::size_t drain(Visit&& visit) {
    // Read this first: then everything that the writer put into the smaller lane before is visible.
    Lane* const large = large_.load(std::memory_order_relaxed);
    const std::uint64_t large_end = large != nullptr ? large->write.load(std::memory_order_acquire) : 0;
    std::size_t events = drain(small_, small_.write.load(std::memory_order_acquire), visit);
    if (large != nullptr) events += drain(*large, large_end, visit);
    for (const Event& event : late_) visit(event);
    events += late_.size();
    late_.clear();
    return events;
  }

  /// Reader: adds an event without extra slots, visited by the next drain(). Throws std::bad_alloc.
  void add_late(const Event& event) { late_.push_back(event); }

  /// Reader, inside visit(): copies the current event's extra bytes to `out`.
  void extra(std::byte* out, std::size_t bytes) const noexcept {
    for (std::size_t i = 1, at = 0; at < bytes; ++i, at += sizeof(Event)) {
      std::memcpy(out + at, cursor_lane_->slot(cursor_ + i), std::min(sizeof(Event), bytes - at));
    }
  }

  /// Reader: nothing left to read.
  [[nodiscard]] bool empty() const noexcept {
    const Lane* const large = large_.load(std::memory_order_relaxed);
    return late_.empty() && small_.empty() && (large == nullptr || large->empty());
  }

  /// Reader: adds the lane of kLargeSlots. False: it exists already, or there is no memory.
  [[nodiscard]] bool enlarge() noexcept {
    if (large_.load(std::memory_order_relaxed) != nullptr) return false;
    void* const place =
        mmap(nullptr, kLargeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (place == MAP_FAILED) return false;
    large_.store(new (place) Lane{static_cast<std::byte*>(place) + kLaneBytes, kLargeSlots - 1},
                 std::memory_order_release);
    return true;
  }

  /// In the child of fork(), where writer and reader no longer exist.
  void clear() noexcept {
    small_.clear();
    if (Lane* const large = large_.load(std::memory_order_relaxed); large != nullptr) large->clear();
    late_.clear();
  }

 private:
  struct Lane {
    std::byte* const bytes;
    const std::uint64_t mask;  // number of slots - 1
    alignas(64) std::atomic<std::uint64_t> write{0};
    std::uint64_t read_seen = 0;  // writer's cached copy of read: saves a shared load for each event
    alignas(64) std::atomic<std::uint64_t> read{0};

    [[nodiscard]] bool has_room(std::size_t slots) noexcept {
      const std::uint64_t end = write.load(std::memory_order_relaxed) + slots;
      if (end - read_seen <= mask + 1) return true;
      read_seen = read.load(std::memory_order_acquire);
      return end - read_seen <= mask + 1;
    }
    [[nodiscard]] bool empty() const noexcept {
      return read.load(std::memory_order_relaxed) == write.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::byte* slot(std::uint64_t at) const noexcept {
      return bytes + (at & mask) * sizeof(Event);
    }
    void clear() noexcept {
      read_seen = write.load(std::memory_order_relaxed);
      read.store(read_seen, std::memory_order_relaxed);
    }
  };
  static_assert((kSlots & (kSlots - 1)) == 0 && (kLargeSlots & (kLargeSlots - 1)) == 0);
  static constexpr std::size_t kLaneBytes =
      4096;  // the Lane object in front of the large lane's slots: a page
  static constexpr std::size_t kLargeBytes = kLaneBytes + kLargeSlots * sizeof(Event);
  static_assert(sizeof(Lane) <= kLaneBytes);

  [[nodiscard]] Lane& writing() noexcept {
    Lane* const large = large_.load(std::memory_order_acquire);
    return large != nullptr ? *large : small_;
  }

  template <typename Visit>
  std::size_t drain(Lane& lane, std::uint64_t end, Visit& visit) {
    std::uint64_t read = lane.read.load(std::memory_order_relaxed);
    std::size_t events = 0;
    cursor_lane_ = &lane;
    while (read != end) {
      Event event;
      std::memcpy(&event, lane.slot(read), sizeof(Event));
      const std::size_t slots = 1 + std::size_t{event.extra_slots};
      cursor_ = read;
      visit(event);
      read += slots;
      ++events;
      // Slots are freed in batches: one store an event would bounce the cache line between cores.
      if (events % 256 == 0) lane.read.store(read, std::memory_order_release);
    }
    lane.read.store(read, std::memory_order_release);
    return events;
  }

  std::atomic<Lane*> large_{nullptr};  // created by the reader, once
  Lane small_{slots_, kSlots - 1};
  const Lane* cursor_lane_ = &small_;  // reader: the event that visit() gets
  std::uint64_t cursor_ = 0;
  std::vector<Event> late_;  // reader
  // Bytes, not Events: construction would touch pages that a short-lived thread never uses.
  alignas(64) std::byte slots_[kSlots * sizeof(Event)];
};

}  // namespace rangefinder
