// SPDX-License-Identifier: Apache-2.0
//
// `rangefinder run --ranks`: the program starts the ranks of a job (torchrun, mpirun, srun). Each rank is
// recorded in its own folder; one report covers all of them.
//
//   run --ranks --out OUT -- torchrun … ─▶ OUT/host=…/rank=0/pid=…, OUT/host=…/rank=1/pid=…
//                                        ─▶ one report over all of them
//
// If the launcher starts ranks on other hosts, it must start `run` for each rank, without --ranks.
// `rangefinder report OUT` merges them afterwards.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/analysis/table/table_render.h"

namespace rangefinder {

/// The folder that all ranks share: `out`, or a default if it is empty. Throws WrongUse if `out` contains
/// the process.
[[nodiscard]] std::string shared_out(const std::string& out);

/// The report over the ranks in these folders, and the next command. `out`: as the user would type it.
[[nodiscard]] std::string ranks_report(const std::vector<std::filesystem::path>& folders,
                                       const std::string& out, const TextStyle& style);

}  // namespace rangefinder
