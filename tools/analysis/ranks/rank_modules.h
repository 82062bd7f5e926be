// SPDX-License-Identifier: Apache-2.0
//
// The modules of all ranks of a job in one tree, matched by the text of their paths: ids differ between
// processes.
//
//   RankWork of each rank ─▶ RankModules ─▶ ns(cost, module, rank, iterations)
//
//   layers/0/attention   ┐
//   layers/1/attention   ┴▶ folded: layers/*/attention, their sum
//
// Numbers are layers: the folded tree has `*` in their place (numbers_folded).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/host_stacks.h"
#include "tools/analysis/ranks/rank_waits.h"
#include "tools/analysis/ranks/rank_work.h"

namespace rangefinder {

/// One rank of a job; all must outlive the comparison.
struct JobRank {
  std::string name;
  const TraceTotals* trace = nullptr;
  const RankWork* work = nullptr;
};

/// Numbers of iterations of the job (RankWaits::local).
using JobIterations = std::vector<std::size_t>;

struct RankModule {
  std::string path, name;  ///< empty: outside of any range
  std::size_t parent = 0;  ///< 0: none
  std::uint32_t depth = 0;
  std::vector<std::vector<std::uint32_t>> paths;  ///< of each rank; a folded module has several
  std::size_t folded = 0;                         ///< of a module that is none itself: its place there
};

/// Rounded; 0 for what is negative.
[[nodiscard]] std::uint64_t whole_ns(double ns);
/// Of the values of the other ranks; the mean of two.
[[nodiscard]] double median_without(std::vector<double> values, std::size_t rank);

class RankModules {
 public:
  RankModules(const std::vector<JobRank>& ranks, const RankWaits& waits);

  /// Parents come first; the first one is outside of any range.
  [[nodiscard]] const std::vector<RankModule>& all() const noexcept { return all_; }
  [[nodiscard]] const std::vector<RankModule>& folded() const noexcept { return folded_; }
  /// Places in the order of a tree: each module below its own parent.
  [[nodiscard]] static std::vector<std::size_t> in_tree_order(const std::vector<RankModule>& modules);

  /// Mean over the iterations of what each module took on one rank, with all modules below it, in ns.
  [[nodiscard]] std::vector<double> ns(const std::vector<RankModule>& modules, RankCost cost,
                                       std::size_t rank, const JobIterations& iterations) const;
  /// The same of all modules.
  [[nodiscard]] double total_ns(RankCost cost, std::size_t rank, const JobIterations& iterations) const;
  /// What one rank's kernels take more than the median of the others, by module, with all modules below it,
  /// and kernel name. Less of it counts as nothing: beside kernels that wait for other ranks, all others are
  /// slower. Names that only one side has are compared as a whole.
  [[nodiscard]] std::vector<double> more_kernel_ns(const std::vector<RankModule>& modules, std::size_t rank,
                                                   const JobIterations& iterations) const;
  /// Samples of stacks in RankCost::host of a module and those below it, on one rank.
  [[nodiscard]] StackTimes host_stacks(const std::vector<RankModule>& modules, std::size_t module,
                                       std::size_t rank, const JobIterations& iterations) const;
  /// Whether the rank has the module, or one below it.
  [[nodiscard]] std::vector<bool> present(const std::vector<RankModule>& modules, std::size_t rank) const;
  /// The same of communication.
  struct Waits {
    std::vector<double> waited_ns, transfer_ns;
  };
  [[nodiscard]] Waits waits(const std::vector<RankModule>& modules, std::size_t rank,
                            const JobIterations& iterations) const;

 private:
  /// By path of the rank.
  [[nodiscard]] static std::vector<std::size_t> places_of(const std::vector<RankModule>& modules,
                                                          std::size_t rank);
  struct Tree {
    std::vector<RankModule>& modules;
    std::unordered_map<std::string, std::size_t> places = {};
    std::size_t place(const std::string& path, const std::string& name, std::size_t parent);
  };
  void add(std::size_t rank);

  const std::vector<JobRank>& ranks_;
  const RankWaits& waits_;
  std::vector<RankModule> all_, folded_;
  Tree tree_{all_}, folded_tree_{folded_};
};

}  // namespace rangefinder
