// SPDX-License-Identifier: Apache-2.0
//
// Sums of running programs over all their windows, as monotonic counters.
//
//   program ─ `snapshot` ─▶ summary of its window ─▶ its metrics ─▶ raise the window's sums ─┐
//     next window: read the final summary.json of the last one, add its sums to the earlier ones ──┴▶ metrics
//
// A window's summary starts at 0, is corrected slightly while samples arrive, and ends with its window. So
// the ledger keeps the highest value seen of each window, and keeps the sums of programs that ended: the sums
// over all programs only grow while `serve` runs. For the same reason a module's row is assigned when it is
// first seen. Windows that open and close between two polls are only counted. Uses no sockets:
// running_programs.h polls the programs.
//
// Modules of a live summary, which has the program's own names, are summed under the names of reports.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/export/prometheus_families.h"

namespace rangefinder {

/// Gives the first `max` names a row of their own.
class StickyNames {
 public:
  explicit StickyNames(std::size_t max) : max_(max) {}
  /// `name`, or "(other)".
  [[nodiscard]] const std::string& row_of(const std::string& name);
  [[nodiscard]] std::size_t omitted() const noexcept { return others_.size(); }

 private:
  static constexpr std::size_t kMaxOthers = 65'536;  // names in others_, to count each one once
  std::size_t max_;
  std::set<std::string> kept_, others_;
};

/// Not thread-safe.
class ProcessLedger {
 public:
  explicit ProcessLedger(const PrometheusLimits& limits)
      : modules_(limits.modules), kernels_(limits.kernels), by_kernel_(limits.kernels != 0) {}

  /// Records the current summary of a program's window. `key`: unique for a program, also if a process id
  /// is reused.
  void note(const std::string& key, std::uint64_t window, const nlohmann::json& summary);
  /// The program has ended. Its sums are kept.
  void close(const std::string& key);
  /// Number of the last window given to note(); 0: unknown program.
  [[nodiscard]] std::uint64_t window_of(const std::string& key) const;

  [[nodiscard]] bool empty() const noexcept { return programs_.empty() && !ended_any_; }
  [[nodiscard]] std::uint64_t windows_missed() const noexcept { return missed_; }
  /// All sums, and the numbers of omitted names.
  [[nodiscard]] PrometheusFamilies families() const;

 private:
  struct Program {
    std::uint64_t window = 0;
    PrometheusFamilies before, now;  ///< sums of earlier windows; of window number `window`
  };

  StickyNames modules_, kernels_;
  bool by_kernel_, ended_any_ = false;
  std::map<std::string, Program> programs_;
  PrometheusFamilies ended_;
  std::uint64_t missed_ = 0;
};

}  // namespace rangefinder
