// SPDX-License-Identifier: Apache-2.0
//
// Turns the deltas of control subscriptions into the rates of `rangefinder top`: by module, over the last
// interval, of one process or of all.
//
//   delta of process A ─┐
//   delta of process B ─┴─▶ add() ─▶ rows(): GPU time, launches, bytes, all per second
//
// Does no I/O. Bytes that were not measured are absent, not 0.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace rangefinder {

/// The parent of `path`: "" for an outermost path. A '/' within a name is escaped as "\\/".
[[nodiscard]] std::string parent_path(const std::string& path);

enum class LiveOrder : std::uint8_t { gpu_time, launches, dram, name };

struct LiveRow {
  std::string path;  ///< empty: outside of any range
  double gpu_ms_per_s = 0;
  double share = 0;  ///< of the GPU time of all modules, inclusive
  double launches_per_s = 0;
  std::optional<double> dram_gb_per_s, l2_gb_per_s;
  std::optional<double> peak_share;  ///< DRAM rate over the sum of the peaks of the processes' GPUs
};

class LiveRates {
 public:
  /// One event of one process. Other events than deltas are used for their GPUs only.
  void add(int pid, const nlohmann::json& event);
  /// Modules with activity directly below `under`; empty: outermost modules, and work outside of ranges.
  [[nodiscard]] std::vector<LiveRow> rows(const std::string& under, LiveOrder order) const;
  /// All modules with activity.
  [[nodiscard]] std::vector<LiveRow> all_rows(LiveOrder order) const;
  /// Ends the interval: the next add() starts a new one.
  void clear() noexcept;
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
  /// Seconds covered by the deltas since clear(); the maximum over the processes.
  [[nodiscard]] double seconds() const noexcept;

 private:
  struct Sums {
    double gpu_ns = 0, exclusive_ns = 0, kernels = 0;
    std::optional<double> dram_bytes, l2_bytes;
  };
  template <typename Wanted>
  [[nodiscard]] std::vector<LiveRow> rows_if(Wanted&& wanted, LiveOrder order) const;
  void add_sums(const std::string& path, const nlohmann::json& module);
  [[nodiscard]] double peak_bytes_per_s() const noexcept;

  std::map<std::string, Sums> modules_;
  std::map<int, double> seconds_;
  std::map<int, double> peaks_;  // DRAM bytes per second of a process's GPUs
  std::uint64_t lost_ = 0;
};

}  // namespace rangefinder
