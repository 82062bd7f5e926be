// SPDX-License-Identifier: Apache-2.0
//
// What ranks' clocks and collectives say, as tables of a report (table.h).
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/communication/rank_waits.h"
#include "tools/analysis/tables/table.h"

namespace rangefinder {

/// A rank of a job. Both must outlive it; finish() of the log was called.
struct RankLog {
  std::string name;
  const Header* header = nullptr;
  const CommunicationLog* log = nullptr;
};

/// Where each rank's time line begins, and how well that is known.
[[nodiscard]] Table clock_rows(const std::vector<RankLog>& ranks, const std::vector<RankClock>& clocks,
                               const RankWaits& waits);
/// Exposed communication of each rank, and who made the others wait. No rows without communication.
[[nodiscard]] Table wait_rows(const std::vector<RankLog>& ranks, const RankWaits& waits);

}  // namespace rangefinder
