// SPDX-License-Identifier: Apache-2.0
//
// Activity buffers: lent to CUPTI, filled, queued for the drain thread, then lent again.
//
//   take() ─▶ CUPTI ─▶ complete() ─▶ queue ─▶ next() ─▶ drain thread ─▶ give_back() ─▶ free
//
// The memory is bounded. When all of it is in flight, take() returns none, CUPTI drops the records,
// and we count that. CUPTI fills one buffer per launching thread. So a quarter of the memory is split
// into small buffers, which are lent when all large ones are in flight: 32 buffers are 24 large and
// 128 small ones.
//
// No memory is mapped before the first use. From then on the drain thread keeps kReady large buffers
// free and pre-faulted: page faults on the application's thread would cost twice as much as all other
// work per record. Any thread; the lock is held for a few instructions, never across a CUPTI call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "schema/loss.h"

namespace rangefinder {

struct LentBuffer {
  std::uint8_t* data = nullptr;  ///< nullptr: none
  std::size_t bytes = 0;
};

struct FilledBuffer {
  std::uint8_t* data = nullptr;
  std::size_t valid_bytes = 0;
};

class BufferPool {
 public:
  /// 2 MiB: about 10,000 kernel records.
  static constexpr std::size_t kBufferBytes = std::size_t{2} << 20;
  static constexpr std::size_t kSmallBytes = kBufferBytes / 16;

  /// At 0.7 us per record, CUPTI's top speed, they last 28 ms: two periods of the drain thread.
  static constexpr std::size_t kReady = 4;

  /// `buffers`: total memory, in units of kBufferBytes. A quarter, rounded down, becomes small buffers.
  BufferPool(std::uint32_t buffers, LossLedger& loss);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A zeroed buffer of kBufferBytes or kSmallBytes; none if all are in flight (counted as lost).
  [[nodiscard]] LentBuffer take() noexcept;
  /// CUPTI has filled `buffer`. A buffer without records becomes free at once.
  void complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;
  /// Drain thread: the oldest filled buffer; data is nullptr if there is none.
  [[nodiscard]] FilledBuffer next() noexcept;
  /// Drain thread: returns a buffer from next() to the pool.
  void give_back(const FilledBuffer& buffer) noexcept;

  /// Drain thread, each period: maps and pre-faults buffers until kReady are free.
  void make_ready() noexcept;

  /// After a window: returns the memory of all free buffers but kReady to the kernel.
  void shrink() noexcept;

  /// Recording has ended: from now on take() returns none and counts no loss.
  void close() noexcept;

  /// Maximum memory in flight at once, in units of kBufferBytes, rounded up.
  [[nodiscard]] std::uint64_t peak_in_flight() const noexcept;
  /// Maximum number of buffers, including small ones.
  [[nodiscard]] std::size_t capacity() const noexcept { return queue_.size(); }

 private:
  [[nodiscard]] static std::uint8_t* map_memory(std::size_t bytes) noexcept;
  [[nodiscard]] std::uint8_t* take_small() noexcept;
  [[nodiscard]] bool is_small(const std::uint8_t* buffer) const noexcept;
  void put_back(std::uint8_t* buffer) noexcept;
  // For shrink(): memory that is not in use; nullptr: none.
  [[nodiscard]] std::uint8_t* take_spare() noexcept;
  [[nodiscard]] std::uint8_t* take_all_small() noexcept;

  const std::size_t small_limit_, limit_;
  LossLedger& loss_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::uint8_t*> all_, free_;  // large ones
  std::uint8_t* small_ = nullptr;          // one block for all small buffers
  std::size_t small_used_ = 0;             // buffers of that block lent at least once, from its start
  std::vector<std::uint8_t*> free_small_;
  std::vector<FilledBuffer> queue_;  // ring of capacity() entries
  std::size_t queue_head_ = 0, queue_size_ = 0;
  std::size_t bytes_in_flight_ = 0, peak_bytes_ = 0;
  bool closed_ = false;
};

}  // namespace rangefinder
