// SPDX-License-Identifier: Apache-2.0
//
// Several traces of one job, a rank each, side by side: which module takes longer on one rank than
// on the others, and which rank all wait for.
//
//   add(trace of rank 0), add(trace of rank 1), … ─▶ modules(): mean, least, most, slowest rank
//                                                  ─▶ ranks():   GPU time, with and without communication
//
// Modules meet by their path's text: ids differ from process to process. A rank is slow by the work of
// its own, so kernels of NCCL do not count for it: they last as long as the others make it wait.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/analysis/read/trace_totals.h"
#include "tools/analysis/tables/table.h"

namespace rangefinder {

/// "rank 3", or the folder where the process had no rank.
[[nodiscard]] std::string rank_name(const TraceTotals& trace);

class RankMerge {
 public:
  void add(const TraceTotals& trace);
  [[nodiscard]] std::size_t ranks_seen() const noexcept { return ranks_.size(); }
  /// A row a module, in order of first appearance; `depth` 0: all levels.
  [[nodiscard]] Table modules(std::uint32_t depth) const;
  /// A row a rank, the slowest first. `waits_known`: another table says who made the others wait, so this one
  /// names no straggler.
  [[nodiscard]] Table ranks(bool waits_known = false) const;
  /// Its name; empty: they differ by less than 2 %.
  [[nodiscard]] std::string straggler() const;

 private:
  struct Rank {
    std::string name;
    std::uint64_t gpu_ns = 0, communication_ns = 0, kernels = 0;
    [[nodiscard]] std::uint64_t own_ns() const noexcept { return gpu_ns - communication_ns; }
  };
  struct Module {
    std::size_t order = 0;
    std::uint32_t depth = 0;
    std::string name;
    std::vector<std::uint64_t> gpu_ns;  // by rank; shorter: not seen there
  };
  [[nodiscard]] static std::vector<Cell> module_row(const std::string& path, const Module& module,
                                                    const std::vector<Rank>& ranks);

  std::vector<Rank> ranks_;
  std::map<std::string, Module> modules_;
};

}  // namespace rangefinder
