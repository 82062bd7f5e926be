// SPDX-License-Identifier: Apache-2.0
//
// The report over several traces, the ranks of a job: which rank is late, why, and where.
//
//   Job job({{name, trace, work}, …});  ranks_text(job, style, depth), put_ranks(job, json, depth)
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/ranks/job.h"
#include "tools/analysis/table/table_render.h"

namespace rangefinder {

/// "missing_ranks", "stragglers", "ranks", "clocks", "rank_waits", "merged", "rank_findings". `depth`:
/// deepest level of modules, 0: all.
void put_ranks(const Job& job, nlohmann::ordered_json& out, std::uint32_t depth);
/// Writes to stderr which ranks of the job have no trace beside this one. False: none is absent.
[[nodiscard]] bool tell_absent(const Header& header);
/// `everything`: the traces were read whole. A part of them does not show who is late.
[[nodiscard]] std::string ranks_text(const Job& job, const TextStyle& style, std::uint32_t depth,
                                     bool everything = true);

}  // namespace rangefinder
