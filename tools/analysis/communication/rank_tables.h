// SPDX-License-Identifier: Apache-2.0
//
// Clocks and collective waits of ranks, as tables of a report (table.h).
#pragma once

#include <string>
#include <vector>

#include "tools/analysis/communication/rank_waits.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

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
