// SPDX-License-Identifier: Apache-2.0
//
// Activity buffers: lent to CUPTI, filled, queued for the drain thread, lent again.
//
//   take() ─▶ CUPTI ─▶ complete() ─▶ queue ─▶ next() ─▶ drain thread ─▶ give_back() ─▶ free
//
// The number is fixed: when all are in flight take() gives nothing, CUPTI drops what
// it would have written, and we count it. Nothing is mapped before the first use. From then
// on the drain thread keeps kReady buffers at hand whose pages are there: touched for
// the first time by CUPTI, on the application's thread, a buffer costs twice as much as all
// the rest of a record. Any thread; the lock is held for a few instructions, never over a
// call into CUPTI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "schema/loss.h"

namespace rangefinder {

struct FilledBuffer {
  std::uint8_t* data = nullptr;
  std::size_t valid_bytes = 0;
};

class BufferPool {
 public:
  /// 2 MiB: some 10,000 kernel records. CUPTI fills one a launching thread.
  static constexpr std::size_t kBufferBytes = std::size_t{2} << 20;

  /// At 0.7 us a record, which is as fast as CUPTI writes them, they last for 28 ms: two turns
  /// of the drain thread.
  static constexpr std::size_t kReady = 4;

  BufferPool(std::uint32_t buffers, LossLedger& loss);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  /// A zeroed buffer of kBufferBytes, or nullptr when all are in flight (counted).
  [[nodiscard]] std::uint8_t* take() noexcept;
  /// CUPTI filled `buffer`. Buffers without records go back at once.
  void complete(std::uint8_t* buffer, std::size_t valid_bytes) noexcept;
  /// Drain thread: the oldest filled buffer; data is nullptr when there is none.
  [[nodiscard]] FilledBuffer next() noexcept;
  /// Drain thread: done with it.
  void give_back(const FilledBuffer& buffer) noexcept;

  /// Drain thread, each turn: maps and touches what is missing to kReady free buffers.
  void make_ready() noexcept;

  /// Recording is over: take() gives nothing from now on, and counts nothing.
  void close() noexcept;

  [[nodiscard]] std::uint64_t peak_in_flight() const noexcept;

 private:
  [[nodiscard]] static std::uint8_t* map_buffer() noexcept;

  const std::uint32_t limit_;
  LossLedger& loss_;
  mutable std::mutex mutex_;
  std::vector<std::uint8_t*> all_;   // guarded by mutex_
  std::vector<std::uint8_t*> free_;  // guarded by mutex_
  std::vector<FilledBuffer> queue_;  // guarded by mutex_; ring of limit_ entries
  std::size_t queue_head_ = 0;       // guarded by mutex_
  std::size_t queue_size_ = 0;       // guarded by mutex_
  std::uint64_t peak_ = 0;           // guarded by mutex_
  bool closed_ = false;              // guarded by mutex_
};

}  // namespace rangefinder
