// SPDX-License-Identifier: Apache-2.0
//
// Puts the traces of several ranks on one time line.
//
//   rank 0  |base──────────────
//   rank 1       |base──────────      time on rank 0 = time on rank 1 + offset_ns
//           ├────┤ offset
//
// Ranks on one host read the same clock: the difference of their CLOCK_MONOTONIC_RAW is exact. Hosts are
// compared by CLOCK_REALTIME, which is as exact as their time service (NTP, PTP). Collectives may give a
// lower bound of its error (rank_waits.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

struct RankClock {
  std::int64_t offset_ns = 0;
  bool same_host = true;  ///< same host as the first rank
  /// How far CLOCK_REALTIME and CLOCK_MONOTONIC_RAW disagree on the offset; absent for other hosts.
  std::optional<std::uint64_t> agree_within_ns;
};

/// One clock per header, in order; the first has offset 0.
[[nodiscard]] std::vector<RankClock> align_clocks(const std::vector<const Header*>& ranks);

}  // namespace rangefinder
