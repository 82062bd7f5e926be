// SPDX-License-Identifier: Apache-2.0
//
// Who is waited for: the same collectives of several ranks, on one time line.
//
//   rank 0  ──[ AllReduce·············]      came first, waits
//   rank 1  ───────────[ AllReduce    ]      came last: made rank 0 wait
//             └ waited ┘
//
// The n-th collective of a communicator on one rank is the n-th on all others: NCCL demands it. Sends and
// receives, and communicators whose collectives are not the same on all ranks (a window that began later on
// one), are left out and counted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/communication/communication_log.h"
#include "tools/analysis/communication/rank_clocks.h"

namespace rangefinder {

struct RankWait {
  std::uint64_t last_in = 0;       ///< collectives to which it came last
  std::uint64_t waited_ns = 0;     ///< its kernels ran, before the last rank's did
  std::uint64_t made_wait_ns = 0;  ///< of all others, where it came last
  std::uint64_t communication_ns = 0;
};

struct RankWaits {
  std::vector<RankWait> ranks;
  std::uint64_t collectives = 0;  ///< that were compared
  std::uint64_t omitted = 0;      ///< kernels of communication that were not
  /// A collective in which each rank needs all others ended on one before it began on another: clocks are
  /// off by this much at least.
  std::uint64_t clocks_off_ns = 0;
};

/// `logs` and `clocks` have a member for each rank; finish() was called.
[[nodiscard]] RankWaits compare_collectives(const std::vector<const CommunicationLog*>& logs,
                                            const std::vector<RankClock>& clocks);

}  // namespace rangefinder
