// SPDX-License-Identifier: Apache-2.0
//
// Queue of records from the sampling threads to the drain thread:
//
//   PmThread, one per GPU ─▶ push ─▶ one block of bytes ─▶ take ─▶ one record at a time, in push order
//
// Columns are copied into the block, and from there into one reused record. So no record is allocated on one
// thread and freed on another; otherwise a burst of waiting records would stay in the first thread's heap for
// good. The block is large: it comes from the kernel and is returned to it (profiler/guest/large_blocks.h).
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <variant>
#include <vector>

#include "schema/sample_record.h"

namespace rangefinder {

/// A record from a sampling thread. Times absolute.
using PmRecord = std::variant<SamplesRecord, SamplingRecord>;

class SampleQueue {
 public:
  /// 41 s of one GPU's samples at 20 us: 75 MB.
  static constexpr std::size_t kMaxRecords = 4096;

  SampleQueue();

  /// Any thread. False: the queue is full and nothing was added. May throw std::bad_alloc; then nothing was
  /// added either.
  [[nodiscard]] bool push(const SamplesRecord& record);
  [[nodiscard]] bool push(SamplingRecord record);

  /// One thread at a time. Passes each record that was queued when take() began to `sink`, valid during the
  /// call. If `sink` throws, the remaining records are lost.
  void take(const std::function<void(const PmRecord&)>& sink);

 private:
  struct Batch {
    std::vector<std::byte> bytes;
    std::vector<SamplingRecord> changes;
    std::size_t records = 0;

    Batch();
    /// Reserves `more` bytes after the existing ones.
    void make_room(std::size_t more);
    void put(const void* data, std::size_t size);
    /// Empties the batch; returns the extra memory of a burst.
    void clear();
  };

  std::mutex mutex_;
  Batch waiting_;    // guarded by mutex_
  Batch taken_;      // taking thread only
  PmRecord record_;  // taking thread only: a SamplesRecord whose columns keep their memory
};

}  // namespace rangefinder
