// SPDX-License-Identifier: Apache-2.0
//
// Contents of the last line of a trace: launches against records, known bytes against
// measured bytes, and the cost of recording.
//
// Part of record.h, which describes how lines and structs relate.
#pragma once

#include <cstdint>

namespace rangefinder {

/// Work that the application launched, against the part that is in the trace.
/// launched = recorded + exact + lost, for each kind; a graph launch counts as one.
struct LaunchBalance {
  std::uint64_t launched = 0;  ///< successful API calls seen, without captured ones
  std::uint64_t recorded = 0;  ///< of these, joined to at least one GPU record
  std::uint64_t exact = 0;     ///< of these, written as an exact line
  std::uint64_t lost = 0;      ///< of these, neither
};

/// Copies of known size that ran alone: known bytes against the bytes of the counters.
struct CopyTruth {
  std::uint64_t copies = 0;          ///< device to device, of kTruthMinBytes or more
  std::uint64_t known_bytes = 0;     ///< of these: read plus written, by the copy's own size
  std::uint64_t measured_bytes = 0;  ///< DRAM bytes read plus written, by the counters
};
/// The L2 serves smaller copies in part, so their DRAM bytes are not known.
inline constexpr std::uint64_t kTruthMinBytes = std::uint64_t{256} << 20;

/// Cost of recording for the application and the machine.
struct OwnCost {
  std::uint64_t launch_callbacks = 0;           ///< calls
  std::uint64_t launch_callback_median_ns = 0;  ///< exit callback of every 64th call
  std::uint64_t launch_callback_p99_ns = 0;
  std::uint64_t drain_cpu_ns = 0;  ///< CPU time of our thread
  std::uint64_t bytes_written = 0;
  std::uint64_t activity_buffers_peak = 0;  ///< in flight at once
  std::uint64_t activity_buffer_bytes = 0;  ///< size of each
  std::uint64_t exact_ns = 0;               ///< application threads delayed by counter ranges and batches
  std::uint64_t exact_batches = 0;
  std::uint64_t sampler_cpu_ns = 0;  ///< CPU time of the threads that sample GPUs
  std::uint64_t samples = 0;         ///< hardware samples decoded, including idle ones
  /// Longest time between two reads of the event rings by our thread, without its sleep.
  std::uint64_t drain_longest_ns = 0;
  std::uint64_t flush_longest_ns = 0;  ///< longest time that CUPTI took to return records
  std::uint64_t held_ns = 0;           ///< sum of the `hold` lines
  /// All waits of threads for another thread's launch in exact mode. Those over 1 ms are in held_ns as well.
  std::uint64_t launch_lock_ns = 0;
  std::uint64_t conditions_cpu_ns = 0;  ///< CPU time of the thread that reads the conditions
  std::uint64_t stacks_cpu_ns = 0;      ///< CPU time of the thread that reads stacks
};

}  // namespace rangefinder
