// SPDX-License-Identifier: Apache-2.0
//
// Monitor mode: data of one path in one period. Host calls are counted in the whole period, GPU work is
// recorded in a short window at its beginning.
//
//   |<------------------------- period ------------------------->|
//   |<- window ->|                                                |
//    GPU records   launches and NVTX ranges are counted all the time
//
// Times of GPU work are those of the window. Divided by window_ns they are a rate; its spread over the
// periods gives the error of the mean.
#pragma once

#include <cstdint>

namespace rangefinder {

/// One path in one period. Path 0, launches outside of all ranges, has a line in each period. Sums exclude
/// the paths below.
struct MonitorRecord {
  std::int64_t start_ns = 0, end_ns = 0;  ///< of the period, relative to Header::base_unix_ns
  std::uint64_t window_ns = 0;            ///< part of the period in which GPU work was recorded
  std::uint32_t path = 0;
  std::uint64_t launches = 0;         ///< calls that put work on the GPU, in the period
  std::uint64_t ranges = 0;           ///< NVTX ranges of this path that ended in it
  std::uint64_t range_ns = 0;         ///< their time on the host
  std::uint64_t window_launches = 0;  ///< of the launches, those in the window
  std::uint64_t kernels = 0;          ///< in the window, including graph nodes
  std::uint64_t kernel_ns = 0;
  std::uint64_t copies = 0;  ///< memory copies and sets
  std::uint64_t copy_ns = 0;
};

}  // namespace rangefinder
