// SPDX-License-Identifier: Apache-2.0
//
// Sums of running programs over all of their windows, as counters that never go back.
//
//   program ─ `snapshot` ─▶ summary of its window ─▶ window_families() ─▶ raise the window's sums ─┐
//     next window: the last one's final summary.json, then its sums are added to those before ────┴▶ metrics
//
// A window's summary begins at 0, is corrected a little while samples come in, and ends with its window. So
// of each window the highest value seen counts, and a program that ended keeps what it had: the sums over
// all programs only grow while `serve` runs. Which modules have rows of their own is settled when they are
// first seen, for the same reason. Of windows that came and went between two looks nothing is known but their
// number, which is counted. Knows no sockets: who asks the programs is running_programs.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tools/export/prometheus_families.h"

namespace rangefinder {

/// Names that have rows of their own: the first so many.
class StickyNames {
 public:
  explicit StickyNames(std::size_t most) : most_(most) {}
  /// The name, or that of all the others.
  [[nodiscard]] const std::string& row_of(const std::string& name);
  [[nodiscard]] std::size_t omitted() const noexcept { return others_.size(); }

 private:
  static constexpr std::size_t kMaxOthers = 65'536;  // whose names are kept, to be counted once
  std::size_t most_;
  std::set<std::string> kept_, others_;
};

/// What one window's summary says, of a program with one GPU or several.
[[nodiscard]] PrometheusFamilies window_families(const nlohmann::json& summary, StickyNames& modules,
                                                 StickyNames* kernels);

/// Not thread-safe.
class ProcessLedger {
 public:
  explicit ProcessLedger(const PrometheusLimits& limits)
      : modules_(limits.modules), kernels_(limits.kernels), by_kernel_(limits.kernels != 0) {}

  /// A program's window and what its summary says now; `key` tells programs apart, also by their start.
  void note(const std::string& key, std::uint64_t window, const nlohmann::json& summary);
  /// The program is gone: its sums stay.
  void close(const std::string& key);
  /// Number of the window that was noted last; 0: there is no such program.
  [[nodiscard]] std::uint64_t window_of(const std::string& key) const;

  [[nodiscard]] bool empty() const noexcept { return programs_.empty() && !ended_any_; }
  [[nodiscard]] std::uint64_t windows_missed() const noexcept { return missed_; }
  /// All sums, with what was left out.
  [[nodiscard]] PrometheusFamilies families() const;

 private:
  struct Program {
    std::uint64_t window = 0;
    PrometheusFamilies before, now;  ///< windows that ended; the one of that number
  };

  StickyNames modules_, kernels_;
  bool by_kernel_, ended_any_ = false;
  std::map<std::string, Program> programs_;
  PrometheusFamilies ended_;
  std::uint64_t missed_ = 0;
};

}  // namespace rangefinder
