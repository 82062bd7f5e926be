// SPDX-License-Identifier: Apache-2.0
//
// Finds the rank that the others wait for, from the same collectives of several ranks.
//
//   rank 0  ──[ AllReduce·············]      came first, waits
//   rank 1  ───────────[ AllReduce    ]      came last: made rank 0 wait; the shortest of these kernels
//             └ waited ┘└  transfer   ┘
//
// No clock decides. Such a kernel ends on all ranks at about the same time, so the rank with the shortest one
// came last, and a rank waited for as long as its kernel is longer. Clocks only show their own error.
//
// The n-th collective of a communicator on one rank is the n-th on all others: NCCL requires it. Excludes and
// counts sends, receives, collectives with a root, which may end there before the other ranks come, and
// communicators whose collectives differ between ranks (for example because a window began later on one
// rank).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/queries/communication_log.h"
#include "tools/analysis/ranks/rank_clocks.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

struct RankWait {
  std::uint64_t last_in = 0;       ///< number of collectives to which it came last
  std::uint64_t waited_ns = 0;     ///< by which its kernels are longer than those of the last rank
  std::uint64_t transfer_ns = 0;   ///< the rest of these kernels' time
  std::uint64_t made_wait_ns = 0;  ///< summed wait of all others, where it came last
  std::uint64_t communication_ns = 0;
};

struct RankWaits {
  std::vector<RankWait> ranks;
  std::uint64_t collectives = 0;  ///< compared collectives
  std::uint64_t omitted = 0;      ///< communication kernels that were not compared
  /// Lower bound of the clock error: a collective that needs all ranks ended on one rank this long before it
  /// began on another.
  std::uint64_t clocks_off_ns = 0;
};

/// `logs` and `clocks` have one element per rank; all logs must be finished.
[[nodiscard]] RankWaits compare_collectives(const std::vector<const CommunicationLog*>& logs,
                                            const std::vector<RankClock>& clocks);

/// One rank of a job. Header and log must outlive it; the log must be finished.
struct RankLog {
  std::string name;
  const Header* header = nullptr;
  const CommunicationLog* log = nullptr;
};

/// The start of each rank's time line, and the uncertainty of it.
[[nodiscard]] Table clock_rows(const std::vector<RankLog>& ranks, const std::vector<RankClock>& clocks,
                               const RankWaits& waits);
/// Exposed communication of each rank, and which rank made the others wait. No rows without communication.
[[nodiscard]] Table wait_rows(const std::vector<RankLog>& ranks, const RankWaits& waits);

}  // namespace rangefinder
