// SPDX-License-Identifier: Apache-2.0
//
// Whether repetitions of a range do the same work. A program's set-up, run and tear-down may be instances of
// one range too, and numbers "an iteration" would mix them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rangefinder {

/// Work that one iteration launched.
struct IterationWork {
  std::size_t iteration = 0;
  std::uint32_t what = 0;  ///< name of the kernel, or what else tells works apart
  std::uint64_t ns = 0;
};

/// Most of the iterations are alike: the number of their works is within 10 % of the median, and they share
/// half of their time by kernel with the mean iteration. True if nothing ran in any. Source of the limits:
/// the recordings of tests/replay, warm-up and changing batches included.
[[nodiscard]] bool are_alike(const std::vector<IterationWork>& works, std::size_t iterations);

}  // namespace rangefinder
