// SPDX-License-Identifier: Apache-2.0
//
// One time line for the traces of several ranks.
//
//   rank 0  |base──────────────
//   rank 1       |base──────────      offset_ns: what is added to its times to have those of rank 0
//           ├────┤ offset
//
// Ranks on one host read the same clock: the difference of their CLOCK_MONOTONIC_RAW is exact. Hosts are
// compared by CLOCK_REALTIME, which is as right as their time service (NTP, PTP) makes it; how far it is off
// at least, collectives may tell (rank_waits.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

struct RankClock {
  std::int64_t offset_ns = 0;
  bool same_host = true;  ///< as the first rank
  /// How far CLOCK_REALTIME and CLOCK_MONOTONIC_RAW disagree on the offset; absent for other hosts.
  std::optional<std::uint64_t> agree_within_ns;
};

/// A clock for each header, in their order; the first has offset 0.
[[nodiscard]] std::vector<RankClock> align_clocks(const std::vector<const Header*>& ranks);

}  // namespace rangefinder
