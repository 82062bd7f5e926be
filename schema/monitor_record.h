// SPDX-License-Identifier: Apache-2.0
//
// What monitor mode knows of one path in one period: host calls of the whole period, GPU work of a short
// window at its beginning.
//
//   |<------------------------- period ------------------------->|
//   |<- window ->|                                                |
//    GPU records   launches and NVTX ranges are counted all the while
//
// Times of GPU work are those of the window: over window_ns they are a rate, and its spread over the periods
// is the error of their mean.
#pragma once

#include <cstdint>

namespace rangefinder {

/// One path in one period; path 0, launches outside of all ranges, has a line in each. Sums are the path's
/// own, without what is below it.
struct MonitorRecord {
  std::int64_t start_ns = 0, end_ns = 0;  ///< of the period, relative to Header::base_unix_ns
  std::uint64_t window_ns = 0;            ///< so long of it GPU work was recorded
  std::uint32_t path = 0;
  std::uint64_t launches = 0;         ///< calls that put work on the GPU, in the period
  std::uint64_t ranges = 0;           ///< NVTX ranges of this path that ended in it
  std::uint64_t range_ns = 0;         ///< their time on the host
  std::uint64_t window_launches = 0;  ///< of the launches, those in the window
  std::uint64_t kernels = 0;          ///< in the window, nodes of graphs among them
  std::uint64_t kernel_ns = 0;
  std::uint64_t copies = 0;  ///< memory copies and sets
  std::uint64_t copy_ns = 0;
};

}  // namespace rangefinder
