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
// The n-th collective of a communicator on one rank is the n-th on all others: NCCL requires it. Where
// windows differ, the ranks are shifted so that collectives end together (collective_order.h), and those that
// all of them have are compared. Sends and receives are excluded, and collectives with a root, which may end
// there before the other ranks come.
//
// Without a communicator, as of libraries other than NCCL, those of a stream belong together, and those of
// replayed graphs by launch and node: if operations and grids are the same on another rank and they end
// together there. Otherwise they are not compared, and counted.
//
// A wait is exposed where the rank has no own work meanwhile: only that costs time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tools/analysis/queries/communication_log.h"
#include "tools/analysis/ranks/rank_clocks.h"
#include "tools/analysis/ranks/rank_work.h"

namespace rangefinder {

struct RankWait {
  std::uint64_t last_in = 0;       ///< number of collectives to which it came last
  std::uint64_t waited_ns = 0;     ///< by which its kernels are longer than those of the last rank
  std::uint64_t transfer_ns = 0;   ///< the rest of these kernels' time
  std::uint64_t made_wait_ns = 0;  ///< summed wait of all others, where it came last
  std::uint64_t communication_ns = 0;
};

/// Exposed times of one rank in one iteration.
struct IterationWait {
  std::uint64_t waited_ns = 0, transfer_ns = 0;
  std::uint64_t made_wait_ns = 0;  ///< summed over the others
};

/// The same of one rank in one module and iteration.
struct ModuleWait {
  std::uint64_t waited_ns = 0, transfer_ns = 0;
};

struct RankWaits {
  std::vector<RankWait> ranks;
  std::uint64_t collectives = 0;  ///< compared collectives
  std::uint64_t unmatched = 0;    ///< collectives of all ranks whose partners on other ranks are not known
  /// Lower bound of the clock error: a collective that needs all ranks ended on one rank this long before it
  /// began on another.
  std::uint64_t clocks_off_ns = 0;

  // Of ranks whose iterations are known:
  std::vector<std::int64_t> first;  ///< by rank: its iteration that is number 0 of the job
  /// By iteration of the job and rank: those with compared collectives, from the first to the last.
  std::vector<std::vector<IterationWait>> iterations;
  std::vector<std::size_t> others;  ///< by rank: with how many ranks it communicates

  /// The rank's own number of an iteration of the job.
  [[nodiscard]] std::size_t local(std::size_t rank, std::size_t iteration) const noexcept {
    return static_cast<std::size_t>(static_cast<std::int64_t>(iteration) + first[rank]);
  }
  [[nodiscard]] IterationWait wait(std::size_t rank, std::size_t iteration) const noexcept {
    return iteration < iterations.size() ? iterations[iteration][rank] : IterationWait();
  }
  /// Exposed wait of each other rank for it, in ns.
  [[nodiscard]] double waited_for_ns(std::size_t rank, std::size_t iteration) const noexcept {
    return static_cast<double>(wait(rank, iteration).made_wait_ns) /
           static_cast<double>(std::max<std::size_t>(1, others[rank]));
  }
  std::vector<std::map<std::pair<std::uint32_t, std::size_t>, ModuleWait>>
      modules;  ///< by rank: path, iteration
};

/// What is compared of one rank; all must outlive the comparison.
struct ComparedRank {
  const CommunicationLog* log = nullptr;  ///< finished
  const OwnBusy* own_busy = nullptr;      ///< nullptr: all waits count as exposed
};

/// `ranks` and `clocks` have one element per rank.
[[nodiscard]] RankWaits compare_collectives(const std::vector<ComparedRank>& ranks,
                                            const std::vector<RankClock>& clocks);

}  // namespace rangefinder
