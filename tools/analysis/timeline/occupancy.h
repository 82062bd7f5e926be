// SPDX-License-Identifier: Apache-2.0
//
// How many blocks of a launch fit on a multiprocessor at once, and what keeps it from being more.
//
//   threads    warps of the SM / warps of a block
//   registers  are given to warps in units of 256, and each of the 4 schedulers has a quarter of them:
//              4 x (quarter / (registers x 32, rounded up to 256)) warps / warps of a block
//   shared     shared memory of the SM / (static + dynamic + 1 KiB of the driver's, in units of 128 B)
//   blocks     the chip's own limit
//
//   capability   warps   blocks   registers   shared memory      (compute capability; of one SM)
//   8.0             64       32       65536   164 KiB
//   8.6             48       16       65536   100 KiB
//   8.9             48       24       65536   100 KiB
//   9.0, 10.0       64       32       65536   228 KiB
//
// Warps, registers and shared memory come from the trace; the table of blocks is here. Of shared memory
// it is what the driver had set aside for the launch (the rest of it is L1), where the trace says so.
// Clusters and CUDA's limits on them are not looked at, and neither are block barriers beyond one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "schema/record.h"

namespace rangefinder {

struct Occupancy {
  /// Of one resource that a launch does not use.
  static constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t by_threads = 0, by_registers = 0, by_shared = 0, by_blocks = 0;  ///< blocks an SM
  std::uint32_t blocks_per_sm = 0;                                               ///< the least of them
  std::uint32_t warps_per_sm = 0;                                                ///< that run at once, of
  std::uint32_t max_warps = 0;
  bool asks_for_shared = false;  ///< else shared memory is only the driver's, and limits with nothing else
  double waves = 0;              ///< blocks of the grid / blocks that the whole GPU runs at once

  /// 0 to 1.
  [[nodiscard]] double share() const noexcept {
    return max_warps == 0 ? 0 : static_cast<double>(warps_per_sm) / max_warps;
  }
  /// "registers", "threads, shared memory", …; empty: every warp of the SM is in use.
  [[nodiscard]] std::string limiter() const;
};

/// Nothing where the GPU's line lacks what is needed, its compute capability is not known here, or the
/// launch has no threads.
[[nodiscard]] std::optional<Occupancy> occupancy_of(const GpuRecord& gpu, const LaunchConfigRecord& config);

}  // namespace rangefinder
