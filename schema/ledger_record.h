// SPDX-License-Identifier: Apache-2.0
//
// What a trace says of itself in its last line: what was asked for against what is in
// it, bytes that are known against bytes that were measured, and what recording cost.
//
// Part of record.h, which says how lines and structs belong together.
#pragma once

#include <cstdint>

namespace rangefinder {

/// Work the application asked for, against what of it is in the trace.
/// launched = recorded + exact + lost, for each kind; graph launches count as one.
struct LaunchBalance {
  std::uint64_t launched = 0;  ///< successful API calls seen, but for those being captured
  std::uint64_t recorded = 0;  ///< of these, joined to at least one GPU record
  std::uint64_t exact = 0;     ///< of these, written as an exact line
  std::uint64_t lost = 0;      ///< of these, neither
};

/// Copies of known size that ran alone, against what the counters said of them.
struct CopyTruth {
  std::uint64_t copies = 0;          ///< device to device, of kTruthLeastBytes or more
  std::uint64_t known_bytes = 0;     ///< of these: read plus written, by the copy's own size
  std::uint64_t measured_bytes = 0;  ///< DRAM bytes read plus written, by the counters
};
/// Smaller copies are served by the L2 in part, and have no known truth.
inline constexpr std::uint64_t kTruthMinBytes = std::uint64_t{256} << 20;

/// What recording cost the application and the machine.
struct OwnCost {
  std::uint64_t launch_callbacks = 0;           ///< calls
  std::uint64_t launch_callback_median_ns = 0;  ///< exit half of every 64th call
  std::uint64_t launch_callback_p99_ns = 0;
  std::uint64_t drain_cpu_ns = 0;  ///< CPU time of our thread
  std::uint64_t bytes_written = 0;
  std::uint64_t activity_buffers_peak = 0;  ///< in flight at once
  std::uint64_t activity_buffer_bytes = 0;  ///< size of each
  std::uint64_t exact_ns = 0;               ///< application threads held up by counter ranges and batches
  std::uint64_t exact_batches = 0;
  std::uint64_t sampler_cpu_ns = 0;  ///< CPU time of the threads that sample GPUs
  std::uint64_t samples = 0;         ///< hardware samples that they decoded, idle ones included
  std::uint64_t drain_longest_ns =
      0;  ///< longest time from one look of our thread at the rings of others to the next, sleep aside
  std::uint64_t flush_longest_ns = 0;  ///< longest time that CUPTI took to hand back records
};

}  // namespace rangefinder
