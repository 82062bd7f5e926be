// SPDX-License-Identifier: Apache-2.0
//
// `rangefinder run --ranks`: the program starts the ranks of a job (torchrun, mpirun, srun), which are
// recorded each in a folder of its own and reported together.
//
//   run --ranks --out OUT -- torchrun … ─▶ OUT/host=…/rank=0/pid=…, OUT/host=…/rank=1/pid=…
//                                        ─▶ one report over all of them
//
// Where the launcher starts ranks on other hosts, `run` stands behind it, once a rank, and needs no
// --ranks: `rangefinder report OUT` reads them together afterwards.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tools/analysis/tables/table_render.h"

namespace rangefinder {

/// What stands in for --out where none was given: a folder that all ranks share. Throws WrongUse for one
/// that each process would have for itself.
[[nodiscard]] std::string shared_out(const std::string& out);

/// What the ranks in these folders say together, and how to see more. `out` as the user would type it.
[[nodiscard]] std::string ranks_report(const std::vector<std::filesystem::path>& folders,
                                       const std::string& out, const TextStyle& style);

}  // namespace rangefinder
