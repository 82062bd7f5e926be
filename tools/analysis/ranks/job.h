// SPDX-License-Identifier: Apache-2.0
//
// The ranks of one job, compared: what `report` over several traces shows.
//
//   Job job(ranks) ─┬─▶ missing_ranks(job)     what is not compared
//                   ├─▶ straggler_lines(job)   who is late, and why
//                   ├─▶ lateness_lines(job)    ranks × iterations
//                   └─▶ rank_table(job), job_module_table(job), wait_table(job), clock_table(job)
//
// Times for people are means of the compared iterations. Only a rank's own work makes it slow: kernels of
// communication, which include waits for other ranks, are separate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/findings/finding.h"
#include "tools/analysis/ranks/rank_modules.h"
#include "tools/analysis/ranks/stragglers.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

/// "rank 3", or the folder if the process had no rank.
[[nodiscard]] std::string rank_name(const TraceTotals& trace);
/// Absent: the process had no rank, or its rank is no number.
[[nodiscard]] std::optional<std::uint32_t> rank_number(const Header& header);
/// The GPU with its communication; nullopt: it has none.
[[nodiscard]] std::optional<std::uint32_t> gpu_of(const JobRank& rank);

/// Comparison of all ranks; their traces must outlive it.
struct Job {
  explicit Job(std::vector<JobRank> all);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::vector<JobRank> ranks;
  std::vector<RankClock> clocks;
  RankWaits waits;
  RankModules modules;
  JobComparison compared;
};

/// What the comparison lacks.
struct MissingRank {
  std::string rank;     ///< "rank 3", "ranks 3, 5"
  std::string problem;  ///< "absent", "no_end", "damaged", "fewer_iterations", "later_begin"
  std::string text;     ///< a sentence without a full stop
};
[[nodiscard]] std::vector<MissingRank> missing_ranks(const Job& job);
/// Numbers without a trace: "no trace of rank 1, of 2 in all"; empty: none, or no rank has a number.
[[nodiscard]] std::string absent_text(const std::vector<const Header*>& ranks);
/// A line for each; empty: the comparison has all.
[[nodiscard]] std::string missing_text(const std::vector<MissingRank>& missing);
[[nodiscard]] Table missing_table(const std::vector<MissingRank>& missing);

/// One sentence for each late rank, with where it ran; one sentence if there is none.
[[nodiscard]] std::string straggler_lines(const Job& job);
/// The same without where they ran: "Rank 1 makes the others wait …", "No rank is late".
[[nodiscard]] std::string straggler_summary(const Job& job);
/// For each of the ranks that were late most a line of blocks, one for one or more iterations: how long the
/// others waited for it. `width`: of the terminal; 0: unlimited. Empty: no rank was late, or there are fewer
/// than four iterations.
[[nodiscard]] std::string lateness_lines(const Job& job, std::size_t width);
/// What means are of: "mean of 24 iterations", "whole run".
[[nodiscard]] std::string compared_text(const Job& job);
/// One row for each straggler.
[[nodiscard]] Table straggler_table(const Job& job);
/// One row per rank, the one that made the others wait most first. `max`: rows; 0: all.
[[nodiscard]] Table rank_table(const Job& job, std::size_t max = 0);
/// One row per module, in the order of the tree. `depth` 0: all levels. `folded`: layers as one.
[[nodiscard]] Table job_module_table(const Job& job, std::uint32_t depth, bool folded);
/// The start of each rank's time line, and the uncertainty of it.
[[nodiscard]] Table clock_table(const Job& job);
/// Communication of each rank in the whole run. No rows without communication.
[[nodiscard]] Table wait_table(const Job& job);

/// Modules in which one rank's own GPU time exceeds the median of the others that have the module by more
/// than 10 %, layers folded; largest excess first, at most three. Where waits are known, only of late ranks,
/// and not the modules that straggler_lines() names. Empty for fewer than two ranks.
[[nodiscard]] std::vector<Finding> find_rank_imbalance(const Job& job);

}  // namespace rangefinder
