// SPDX-License-Identifier: Apache-2.0
//
// Activity buffers: lent to CUPTI, filled, queued for the drain thread, lent again.
//
//   take() ─▶ CUPTI ─▶ complete() ─▶ queue ─▶ next() ─▶ drain thread ─▶ give_back() ─▶ free
//
// Their memory is bounded: when all of it is in flight take() gives nothing, CUPTI drops what
// it would have written, and we count it. CUPTI fills a buffer for each thread that launches, so
// a quarter of the memory goes into small buffers, lent when the large ones are all in flight:
// 32 buffers are 24 large and 128 small ones.
//
// Nothing is mapped before the first use. From then on the drain thread keeps kReady large buffers
// at hand whose pages are there: touched for the first time by CUPTI, on the application's thread,
// a buffer costs twice as much as all the rest of a record. Any thread; the lock is held for a few
// instructions, never over a call into CUPTI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "schema/loss.h"

namespace rangefinder {

struct LentBuffer {
  std::uint8_t* data = nullptr;  ///< nullptr: there is none
  std::size_t bytes = 0;
};

struct FilledBuffer {
  std::uint8_t* data = nullptr;
  std::size_t valid_bytes = 0;
};

class BufferPool {
 public:
  /// 2 MiB: some 10,000 kernel records.
  static constexpr std::size_t kBufferBytes = std::size_t{2} << 20;
  static constexpr std::size_t kSmallBytes = kBufferBytes / 16;

  /// At 0.7 us a record, which is as fast as CUPTI writes them, they last for 28 ms: two turns
  /// of the drain thread.
  static constexpr std::size_t kReady = 4;

  /// `buffers`: their memory, in buffers of kBufferBytes; a quarter of them, rounded down, is for small ones.
  BufferPool(std::uint32_t buffers, LossLedger& loss);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A zeroed buffer of kBufferBytes or kSmallBytes; none when all are in flight (counted).
  [[nodiscard]] LentBuffer take() noexcept;
  /// CUPTI filled `buffer`. Buffers without records go back at once.
  void complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;
  /// Drain thread: the oldest filled buffer; data is nullptr when there is none.
  [[nodiscard]] FilledBuffer next() noexcept;
  /// Drain thread: done with it.
  void give_back(const FilledBuffer& buffer) noexcept;

  /// Drain thread, each turn: maps and touches what is missing to kReady free buffers.
  void make_ready() noexcept;

  /// A window is over: the memory of all free buffers but kReady goes back to the kernel.
  void shrink() noexcept;

  /// Recording is over: take() gives nothing from now on, and counts nothing.
  void close() noexcept;

  /// Most memory in flight at once, in buffers of kBufferBytes, rounded up.
  [[nodiscard]] std::uint64_t peak_in_flight() const noexcept;
  /// How many there may be, small ones included.
  [[nodiscard]] std::size_t capacity() const noexcept { return queue_.size(); }

 private:
  [[nodiscard]] static std::uint8_t* map_memory(std::size_t bytes) noexcept;
  [[nodiscard]] std::uint8_t* take_small() noexcept;
  [[nodiscard]] bool is_small(const std::uint8_t* buffer) const noexcept;
  void put_back(std::uint8_t* buffer) noexcept;
  // These two for shrink(): memory that nobody has any more; nullptr: there is none.
  [[nodiscard]] std::uint8_t* take_spare() noexcept;
  [[nodiscard]] std::uint8_t* take_all_small() noexcept;

  const std::size_t small_limit_, limit_;
  LossLedger& loss_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::vector<std::uint8_t*> all_, free_;  // large ones
  std::uint8_t* small_ = nullptr;          // memory of all small ones
  std::size_t small_used_ = 0;             // so many from its begin were lent at least once
  std::vector<std::uint8_t*> free_small_;
  std::vector<FilledBuffer> queue_;  // ring of as many as there may be
  std::size_t queue_head_ = 0, queue_size_ = 0;
  std::size_t bytes_in_flight_ = 0, peak_bytes_ = 0;
  bool closed_ = false;
};

}  // namespace rangefinder
