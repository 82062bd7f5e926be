// SPDX-License-Identifier: Apache-2.0
//
// Limits of the data in one page. Omitted data are counted, and the page shows the counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rangefinder {

struct PageLimits {
  std::size_t modules = 4'000;         ///< heaviest modules, plus their ancestors
  std::size_t kernels = 2'000;         ///< heaviest kernel names
  std::size_t kernel_modules = 8'000;  ///< pairs of kernel and module
  std::size_t configs = 4'000;         ///< launch configurations
  std::size_t iterations = 4'096;      ///< the first ones
  std::size_t work = 120'000;          ///< pieces of GPU work in all windows together
  std::size_t ranges = 40'000;         ///< longest NVTX ranges, and the same number in windows
  std::size_t syncs = 8'000;           ///< longest host waits
  std::size_t holds = 4'000;           ///< longest times in which the profiler held a thread
  std::size_t idle = 8'000;            ///< longest parts of idle time, with their causes
  std::size_t stacks = 16'384;         ///< samples of the stacks of one thread
  std::size_t streams = 48;            ///< busiest streams, which get their own lane
  std::size_t bins = 8'192;            ///< bins of a stream's busy time, outside windows
  std::size_t samples = 32'768;        ///< points with hardware samples; neighbours are merged
  std::size_t memory_points = 4'096;   ///< points of memory in use

  /// The limits of each of `traces` traces in one page.
  [[nodiscard]] PageLimits shared_by(std::size_t traces) const {
    PageLimits out = *this;
    const std::size_t n = std::max<std::size_t>(1, traces);
    for (std::size_t PageLimits::*limit :
         {&PageLimits::modules, &PageLimits::kernels, &PageLimits::kernel_modules, &PageLimits::configs,
          &PageLimits::iterations, &PageLimits::work, &PageLimits::ranges, &PageLimits::syncs,
          &PageLimits::holds, &PageLimits::idle, &PageLimits::stacks, &PageLimits::streams, &PageLimits::bins,
          &PageLimits::samples, &PageLimits::memory_points}) {
      out.*limit = std::max<std::size_t>(1, out.*limit / n);
    }
    // Bins merge in pairs, so their number must be a power of two.
    while ((out.bins & (out.bins - 1)) != 0) out.bins &= out.bins - 1;
    return out;
  }
};

}  // namespace rangefinder
