// SPDX-License-Identifier: Apache-2.0
//
// Theoretical occupancy: the number of blocks of a launch that fit on a multiprocessor, and the limiting
// resource.
//
//   threads    warps of the SM / warps of a block
//   registers  are allocated to warps in units of 256, and each of the 4 schedulers has a quarter of them:
//              4 x (quarter / (registers x 32, rounded up to 256)) warps / warps of a block
//   shared     shared memory of the SM / (static + dynamic + 1 KiB for the driver, in units of 128 B)
//   blocks     the chip's limit
//
//   capability   warps   blocks   registers   shared memory      (compute capability; per SM)
//   8.0             64       32       65536   164 KiB
//   8.6             48       16       65536   100 KiB
//   8.9             48       24       65536   100 KiB
//   9.0, 10.0       64       32       65536   228 KiB
//
// Warps, registers and shared memory come from the trace; occupancy.cpp has the table of blocks. Shared
// memory is the carve-out that the driver chose for the launch, if the trace has it. Ignores
// clusters and their limits, and more than one barrier per block.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "schema/record.h"

namespace rangefinder {

struct Occupancy {
  /// The limit of a resource that the launch does not use.
  static constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

  std::uint32_t by_threads = 0, by_registers = 0, by_shared = 0, by_blocks = 0;  ///< blocks per SM
  std::uint32_t blocks_per_sm = 0;                                               ///< the smallest of them
  std::uint32_t warps_per_sm = 0;  ///< resident warps, of at most max_warps
  std::uint32_t max_warps = 0;
  bool asks_for_shared = false;  ///< false: only the driver uses it; limiter() names it last
  double waves = 0;              ///< blocks of the grid / blocks that the whole GPU runs at once

  /// 0 to 1.
  [[nodiscard]] double share() const noexcept {
    return max_warps == 0 ? 0 : static_cast<double>(warps_per_sm) / max_warps;
  }
  /// "registers", "threads, shared memory", …; empty: every warp of the SM is in use.
  [[nodiscard]] std::string limiter() const;
};

/// nullopt: the GPU's line lacks a limit, its compute capability is not in the table, or the launch has no
/// threads or too many.
[[nodiscard]] std::optional<Occupancy> occupancy_of(const GpuRecord& gpu, const LaunchConfigRecord& config);

}  // namespace rangefinder
