// SPDX-License-Identifier: Apache-2.0
//
// Compares the traces of one job, one per rank: modules that take longer on one rank than on the others, and
// the rank that all others wait for.
//
//   add(trace of rank 0), add(trace of rank 1), … ─▶ modules(): mean, min, max, slowest rank
//                                                  ─▶ ranks():   GPU time, with and without communication
//
// Modules are matched by the text of their path: ids differ between processes. Only a rank's own work
// makes it slow. So NCCL kernels are excluded: they include waiting for other ranks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/table/table.h"

namespace rangefinder {

/// "rank 3", or the folder if the process had no rank.
[[nodiscard]] std::string rank_name(const TraceTotals& trace);

class RankMerge {
 public:
  void add(const TraceTotals& trace);
  /// One row per module, in order of first appearance; `depth` 0: all levels.
  [[nodiscard]] Table modules(std::uint32_t depth) const;
  /// One row per rank, the slowest first. `has_wait_table`: another table shows which rank made the others
  /// wait, so this one names no straggler.
  [[nodiscard]] Table ranks(bool has_wait_table = false) const;
  /// Name of the slowest rank; empty: ranks differ by less than 2 %.
  [[nodiscard]] std::string straggler() const;

 private:
  struct Rank {
    std::string name;
    std::uint64_t gpu_ns = 0, communication_ns = 0, kernels = 0;
    std::uint64_t run_ns = 0;  ///< from the beginning of the trace to its last event
    [[nodiscard]] std::uint64_t own_ns() const noexcept { return gpu_ns - communication_ns; }
  };
  struct Module {
    std::size_t order = 0;
    std::uint32_t depth = 0;
    std::string name;
    std::vector<std::uint64_t> gpu_ns;  // by rank; missing at the end: not seen on these ranks
  };
  [[nodiscard]] static std::vector<Cell> module_row(const std::string& path, const Module& module,
                                                    const std::vector<Rank>& ranks);
  /// Of ranks without a straggler. Runs of other lengths are named: GPU time does not explain them.
  [[nodiscard]] std::string alike_text() const;

  std::vector<Rank> ranks_;
  std::map<std::string, Module> modules_;
};

}  // namespace rangefinder
