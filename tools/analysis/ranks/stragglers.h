// SPDX-License-Identifier: Apache-2.0
//
// Which ranks the others wait for, and what these ranks do more than the others.
//
//   RankWaits    ─▶ late by 7.9 ms an iteration          ┐
//   RankModules  ─▶ 8.0 ms more host code in step/data   ┴▶ Straggler
//
// A rank is late because its GPU worked longer, or because it was idle longer: the union of its own GPU work,
// compared with the median of the other ranks, decides on which side the cause is. There the costs that add
// up are compared with the median of the others: the excess counts at the deepest module that has most of it,
// and the largest cost in it names the cause.
//
// A rank can also be behind by a constant time that it once lost, where hosts run ahead of their GPUs: the
// others wait in each iteration, and it would take no less time without the wait. So a rank makes the others
// wait for no longer than what it takes more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/ranks/rank_modules.h"

namespace rangefinder {

enum class LateCause : std::uint8_t {
  unknown,
  host,       ///< code outside of driver calls
  loading,    ///< the same, in a range that loads data
  launching,  ///< calls that launch
  memory,     ///< calls that allocate or free
  waiting,    ///< calls that wait for the GPU
  copies,     ///< copies, on the GPU or in the calls
  gpu,        ///< kernels
  clocks      ///< the same kernels take longer: the SM clock is lower
};
/// For JSON: "host".
[[nodiscard]] std::string_view key_of(LateCause cause);

/// All times are means of the compared iterations, in ns.
struct Straggler {
  std::size_t rank = 0;
  double waited_for_ns = 0;  ///< exposed wait of each other rank for it
  double made_wait_ns = 0;   ///< the part of it that the excess explains
  std::size_t late = 0;      ///< number of iterations in which it was late
  bool on_gpu = false;       ///< the cause is
  LateCause cause = LateCause::unknown;
  std::string module;                     ///< path; empty: outside of any range
  std::optional<MainFunction> function;   ///< with most host code there, if the cause is that
  double excess_ns = 0;                   ///< over the median of the other ranks, of the cause in the module
  double own_ns = 0;                      ///< what it takes there
  std::optional<double> mhz, others_mhz;  ///< mean SM clock
  /// What the others take there.
  [[nodiscard]] double others_ns() const noexcept { return own_ns - excess_ns; }
};

struct JobComparison {
  JobIterations iterations;           ///< that all ranks have, without those that warm up
  double iteration_ns = 0;            ///< median of the ranks
  double waited_ns = 0;               ///< exposed, mean of the ranks
  double transfer_ns = 0;             ///< exposed, mean of the ranks
  std::vector<Straggler> stragglers;  ///< the worst first
  std::vector<Straggler> behind;      ///< others wait for them, but they take no longer
  /// The part of an iteration; 0 if its length is unknown.
  [[nodiscard]] double share(double ns) const noexcept { return iteration_ns <= 0 ? 0 : ns / iteration_ns; }
};

[[nodiscard]] JobComparison compare_ranks(const std::vector<JobRank>& ranks, const RankWaits& waits,
                                          const RankModules& modules);

}  // namespace rangefinder
