// SPDX-License-Identifier: Apache-2.0
//
// What sampling threads have read, until the drain thread takes it:
//
//   PmThread, one a GPU ─▶ push ─▶ one block of bytes ─▶ take ─▶ a record at a time, in the order of push
//
// The records' columns are copied into the block and out of it again, into one record for all. So no record
// is allocated on one thread and freed on another, where a moment in which many wait would stay in the heap
// of the first for good; the block is a large one, from the kernel and back to it
// (profiler/guest/large_blocks.h).
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <variant>
#include <vector>

#include "schema/sample_record.h"

namespace rangefinder {

/// What a sampling thread delivers. Times absolute.
using PmRecord = std::variant<SamplesRecord, SamplingRecord>;

class SampleQueue {
 public:
  /// 41 s of one GPU's samples at 20 us, 75 MB.
  static constexpr std::size_t kMaxRecords = 4096;

  SampleQueue();

  /// Any thread. False: as many wait as may, and nothing was added. Throws std::bad_alloc, then too.
  [[nodiscard]] bool push(const SamplesRecord& record);
  [[nodiscard]] bool push(SamplingRecord record);

  /// One thread at a time: `sink` gets each record that was there when take() began, valid during the call.
  /// If it throws, those that it did not get are gone.
  void take(const std::function<void(const PmRecord&)>& sink);

 private:
  struct Batch {
    std::vector<std::byte> bytes;
    std::vector<SamplingRecord> changes;
    std::size_t records = 0;

    Batch();
    /// Room for `more` bytes behind those that are there.
    void make_room(std::size_t more);
    void put(const void* data, std::size_t size);
    /// Empty; what a crowded moment took goes back.
    void clear();
  };

  std::mutex mutex_;
  Batch waiting_;    // guarded by mutex_
  Batch taken_;      // the taker's
  PmRecord record_;  // the taker's: a SamplesRecord, whose columns keep their memory
};

}  // namespace rangefinder
