// SPDX-License-Identifier: Apache-2.0
//
// Events of one thread on their way to the drain thread: a ring of 64-byte slots.
//
//        write_ (app thread) ─┐             ┌─ read_ (drain thread)
//   [ ][ ][ e ][ e ][ e ][ ][ ]      full: the new event is dropped and counted
//
// One writer, one reader, no lock, no wait. The writer publishes with a release
// store that the reader acquires; the reader gives slots back the same way.
//
// What the reader itself finds to add (ranges left open when recording stops) waits
// in a list of its own, because the owner of the ring may still be writing.
#pragma once

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
  static constexpr std::size_t kSlots = 8192;  // 512 KiB
  static_assert((kSlots & (kSlots - 1)) == 0);

  /// Writer. False: full, nothing was written. `event.extra_slots` must cover `extra`.
  [[nodiscard]] bool push(const Event& event, std::span<const std::byte> extra = {}) noexcept {
    const std::size_t slots = 1 + std::size_t{event.extra_slots};
    if (!has_room(slots)) return false;
    const std::uint64_t write = write_.load(std::memory_order_relaxed);
    std::memcpy(slot(write), &event, sizeof(Event));
    for (std::size_t i = 1, at = 0; i < slots && at < extra.size(); ++i, at += sizeof(Event)) {
      std::memcpy(slot(write + i), extra.data() + at, std::min(sizeof(Event), extra.size() - at));
    }
    write_.store(write + slots, std::memory_order_release);
    return true;
  }

  /// Writer: the same for an event without extra slots, which `fill(Event&)` makes in its place:
  /// copying one that was just written field by field stalls the processor.
  template <typename Fill>
  [[nodiscard]] bool push_in_place(Fill&& fill) noexcept {
    if (!has_room(1)) return false;
    const std::uint64_t write = write_.load(std::memory_order_relaxed);
    fill(*new (slot(write)) Event);
    write_.store(write + 1, std::memory_order_release);
    return true;
  }

  /// Writer: is the reader late? Worth waking it at half full.
  [[nodiscard]] bool half_full() const noexcept {
    const std::uint64_t write = write_.load(std::memory_order_relaxed);
    return write - read_seen_ >= kSlots / 2 && write - read_.load(std::memory_order_relaxed) >= kSlots / 2;
  }

  /// Reader: calls `visit(const Event&)` for everything published, in order. An event with
  /// extra slots is visited once; `visit` reads them through extra().
  template <typename Visit>
  std::size_t drain(Visit&& visit) {
    const std::uint64_t write = write_.load(std::memory_order_acquire);
    std::uint64_t read = read_.load(std::memory_order_relaxed);
    std::size_t events = 0;
    while (read != write) {
      Event event;
      std::memcpy(&event, slot(read), sizeof(Event));
      const std::size_t slots = 1 + std::size_t{event.extra_slots};
      cursor_ = read;
      visit(event);
      read += slots;
      ++events;
      // Slots go back in portions: one store an event would bounce the line between the cores.
      if (events % 256 == 0) read_.store(read, std::memory_order_release);
    }
    read_.store(read, std::memory_order_release);
    for (const Event& event : late_) visit(event);
    events += late_.size();
    late_.clear();
    return events;
  }

  /// Reader: adds an event without extra slots of its own making, visited by the next drain().
  /// Throws std::bad_alloc.
  void add_late(const Event& event) { late_.push_back(event); }

  /// Reader, inside visit(): copies the current event's extra bytes to `out`.
  void extra(std::byte* out, std::size_t bytes) const noexcept {
    for (std::size_t i = 1, at = 0; at < bytes; ++i, at += sizeof(Event)) {
      std::memcpy(out + at, slot(cursor_ + i), std::min(sizeof(Event), bytes - at));
    }
  }

  /// Reader: nothing left to read.
  [[nodiscard]] bool empty() const noexcept {
    return late_.empty() && read_.load(std::memory_order_relaxed) == write_.load(std::memory_order_acquire);
  }

  /// In the child of fork(), where neither writer nor reader exists any more.
  void clear() noexcept {
    read_seen_ = write_.load(std::memory_order_relaxed);
    read_.store(read_seen_, std::memory_order_relaxed);
    late_.clear();
  }

 private:
  [[nodiscard]] bool has_room(std::size_t slots) noexcept {
    const std::uint64_t write = write_.load(std::memory_order_relaxed);
    if (write + slots - read_seen_ <= kSlots) return true;
    read_seen_ = read_.load(std::memory_order_acquire);
    return write + slots - read_seen_ <= kSlots;
  }
  [[nodiscard]] std::byte* slot(std::uint64_t at) noexcept { return slots_ + at % kSlots * sizeof(Event); }
  [[nodiscard]] const std::byte* slot(std::uint64_t at) const noexcept {
    return slots_ + at % kSlots * sizeof(Event);
  }

  alignas(64) std::atomic<std::uint64_t> write_{0};
  std::uint64_t read_seen_ = 0;  // writer's last look at read_: saves a shared load an event
  alignas(64) std::atomic<std::uint64_t> read_{0};
  std::uint64_t cursor_ = 0;  // reader: the event that visit() looks at
  std::vector<Event> late_;   // reader
  // Bytes, not Events: nothing touches the pages of a short thread's ring until they are used.
  alignas(64) std::byte slots_[kSlots * sizeof(Event)];
};

}  // namespace rangefinder
