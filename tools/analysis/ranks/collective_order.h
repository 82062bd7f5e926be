// SPDX-License-Identifier: Apache-2.0
//
// Which collective of one rank is which of another, where their recordings begin or end at other times.
//
//   rank 0    a b c a b c a b c a
//   rank 1          a b c a b c a b      shift −3: its first collective is the fourth of rank 0
//
// A collective ends on all ranks at about the same time. So with the right shift the difference of the ends
// is the same in all of them, whatever the clocks say: the shift with the least spread is taken. Where
// several are alike, clocks that are known to agree decide, otherwise no shift is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/analysis/queries/communication_log.h"

namespace rangefinder {

/// Collectives of one communicator on one rank, in order of start.
using CollectiveOrder = std::vector<const Collective*>;

/// Collectives of one rank that are in the same order on all ranks.
struct CollectiveLane {
  std::uint64_t communicator = 0;  ///< 0: unknown
  CollectiveOrder order;
};
/// Those of each communicator, without sends and receives. Without a communicator a lane for each stream, and
/// one for the graphs, of what needs all ranks. `log`: finished, must outlive them.
[[nodiscard]] std::vector<CollectiveLane> lanes_of(const CommunicationLog& log);

/// True for collectives that cannot end on any rank before all ranks have begun, and groups of them.
[[nodiscard]] bool needs_all(const Collective& one);

/// Ends of one collective on several ranks differ by up to this.
inline constexpr std::int64_t kSameEndNs = 50'000;

struct CollectiveShift {
  std::ptrdiff_t by = 0;  ///< other[i + by] is first[i]
  std::int64_t apart_ns =
      0;  ///< spread of the difference of their ends; with exact clocks, and the difference
};

/// nullopt: their operations differ with each shift that leaves a quarter of the shorter one. Without a known
/// communicator it leaves half of it, and the sizes of grids are alike too. `offset_ns`: of the other rank's
/// clock. `clocks_agree`: it is exact.
[[nodiscard]] std::optional<CollectiveShift> shift_between(const CollectiveOrder& first,
                                                           const CollectiveOrder& other,
                                                           std::int64_t offset_ns, bool clocks_agree);

}  // namespace rangefinder
