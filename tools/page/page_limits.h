// SPDX-License-Identifier: Apache-2.0
//
// How much of a trace one page holds. What is left out is counted, and the page says so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rangefinder {

struct PageLimits {
  std::size_t modules = 4'000;         ///< heaviest, with the paths above them
  std::size_t kernels = 2'000;         ///< names
  std::size_t kernel_modules = 8'000;  ///< pairs of kernel and module
  std::size_t configs = 4'000;         ///< launch configurations
  std::size_t iterations = 4'096;      ///< the first ones
  std::size_t work = 120'000;          ///< kernels, copies and memsets one by one, in all windows
  std::size_t ranges = 40'000;         ///< longest NVTX ranges, and as many again in windows
  std::size_t syncs = 8'000;           ///< longest waits of the host
  std::size_t streams = 48;            ///< with a lane of their own, busiest first
  std::size_t bins = 8'192;            ///< of a stream's busy time, where work is not kept
  std::size_t samples = 32'768;        ///< points of time with hardware samples, neighbours merged
  std::size_t memory_points = 4'096;   ///< of memory in use

  /// What each of `traces` may take of one page.
  [[nodiscard]] PageLimits shared_by(std::size_t traces) const;
};

}  // namespace rangefinder
