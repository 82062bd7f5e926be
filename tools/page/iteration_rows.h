// SPDX-License-Identifier: Apache-2.0
//
// What happened in each repetition that a program goes through (iterations.h).
//
// GPU work belongs to the iteration in which it was launched, waits and launches to the one that was
// open when they began. Only the first `most` are kept. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/attribution/interval_union.h"
#include "tools/analysis/read/iterations.h"

namespace rangefinder {

struct IterationRow {
  TimeNs start_ns = 0, host_ns = 0;
  TimeNs gpu_start_ns = kNoTime, gpu_end_ns = kNoTime;  ///< first and last kernel or copy; kNoTime: none
  std::uint64_t kernels = 0, copies = 0, launches = 0, syncs = 0;
  std::uint64_t gpu_ns = 0;   ///< of kernels, summed
  std::uint64_t sync_ns = 0;  ///< the host waited
  std::uint64_t copy_bytes = 0;
  std::uint64_t exact_launches = 0;  ///< with bytes
  std::uint64_t dram_bytes = 0, l2_bytes = 0;
  IntervalUnion busy;  ///< of kernels
};

class IterationRows {
 public:
  IterationRows(Iterations iterations, std::size_t most);

  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const LaunchRecord& launch);
  void add(const ExactRecord& exact);
  void add(const SyncRecord& sync);

  [[nodiscard]] const Iterations& iterations() const noexcept { return iterations_; }
  [[nodiscard]] const std::vector<IterationRow>& rows() const noexcept { return rows_; }

 private:
  [[nodiscard]] IterationRow* at(std::size_t index);
  static void add_span(IterationRow& row, const GpuWork& work);

  Iterations iterations_;
  std::vector<IterationRow> rows_;
};

}  // namespace rangefinder
