// SPDX-License-Identifier: Apache-2.0
//
// Open start/end ranges. They may end on another thread, so there is one table for the
// process, in parts with a lock each.
//
//   id ─▶ part id % 17 ─▶ index (open addressing) ─▶ entry of the part's pool
//
// Bounded: kMaxOpen ranges, and kMaxPayloadsBytes for their extended payloads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/events/range_stack.h"
#include "profiler/guest/fork_locks.h"
#include "profiler/guest/host_lock.h"
#include "profiler/guest/host_mutex.h"

namespace rangefinder {

struct StartedRange {
  std::uint64_t key = 0;  ///< id returned to the application
  std::uint64_t id = 0;   ///< our id
  std::int64_t start_ns = 0;
  std::uint64_t payload = 0;
  std::uint32_t path = 0;  ///< open on the thread at the start
  std::uint32_t name = 0;
  std::uint32_t domain = 0;
  std::uint32_t category = 0;
  std::uint32_t color = 0;
  std::uint32_t thread = 0;
  PayloadType payload_type = PayloadType::none;
  std::uint32_t extended_bytes = 0;
  std::uint64_t extended_schema = 0;
  std::byte* extended = nullptr;  ///< heap; the caller of take() frees it with free_payload()
};

/// Any thread.
class OpenRanges {
 public:
  static constexpr std::size_t kMaxOpen = 65'536;
  static constexpr std::size_t kMaxPayloadsBytes = std::size_t{1} << 20;

  /// False: full, or no memory; the payload of `range` is then freed.
  [[nodiscard]] bool add(StartedRange range) noexcept;
  /// Moves the range of `key` from the table to `range`. False: there is none.
  [[nodiscard]] bool take(std::uint64_t key, StartedRange& range) noexcept;
  /// Calls `visit(const StartedRange&)` for all, with the part's lock held. False: some parts were skipped,
  /// because their lock was refused.
  template <typename Visit>
  [[nodiscard]] bool for_each(Visit&& visit) {
    bool all = true;
    for (Part& part : parts_) {
      const HostLock lock(part.mutex);
      all &= static_cast<bool>(lock);
      if (!lock) continue;
      for (const std::uint16_t at : part.index) {
        if (at != 0) visit(part.pool[at - 1]);
      }
    }
    return all;
  }

  /// Copies `payload` into `range`. False: it did not fit.
  [[nodiscard]] bool keep_payload(StartedRange& range, const NvtxPayload& payload) noexcept;
  void free_payload(StartedRange& range) noexcept;

  /// Adds the locks of all parts, for fork().
  void add_to(ForkLocks& locks) noexcept;

 private:
  static constexpr std::size_t kParts = 17;  // not a power of two: ids of other tools may be pointers
  static constexpr std::size_t kPartRanges = kMaxOpen / kParts + 1;
  static constexpr std::size_t kIndexSlots = 8192;
  struct Part {
    HostMutex mutex;
    StartedRange* pool = nullptr;                    // guarded by mutex; kPartRanges, never freed
    std::uint16_t made = 0;                          // guarded by mutex; entries ever used
    std::uint16_t free_count = 0;                    // guarded by mutex
    std::array<std::uint16_t, kPartRanges> free{};   // guarded by mutex
    std::array<std::uint16_t, kIndexSlots> index{};  // guarded by mutex; entry + 1, 0: free
  };
  [[nodiscard]] static std::size_t home(std::uint64_t key) noexcept;
  [[nodiscard]] static std::size_t find(const Part& part, std::uint64_t key) noexcept;
  static void erase(Part& part, std::size_t slot) noexcept;

  std::array<Part, kParts> parts_;
  std::atomic<std::size_t> open_{0};
  std::atomic<std::size_t> payload_bytes_{0};
};

[[nodiscard]] OpenRanges& open_ranges() noexcept;

}  // namespace rangefinder
