// SPDX-License-Identifier: Apache-2.0
//
// Paths whose work always overlaps: samples show only the sum of their bytes.
//
//   SampleBlock ─▶ add ─▶ time of each path, and overlap of each pair ─▶ groups()
//
// Two paths are inseparable if at least kTogether of the time in which either of them runs, both run.
// Excludes work of known bytes (known_traffic.h), which needs no samples.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profiler/attribution/sample_order.h"
#include "tools/analysis/sampling/sampled_bytes_groups.h"
#include "tools/analysis/sampling/unmix_blocks.h"

namespace rangefinder {

class InseparablePaths {
 public:
  static constexpr double kTogether = 0.9;
  /// Bounds for damaged traces: pairs of paths, and pieces of work that overlap.
  static constexpr std::size_t kMaxPairs = std::size_t{1} << 18, kMaxAtOnce = 128;

  explicit InseparablePaths(const WorkGroups& groups) noexcept : groups_(groups) {}

  void add(const SampleBlock& block);
  /// Positions in WorkGroups::paths() by group, each ascending; groups by their first path.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> groups() const;

 private:
  struct Running {
    std::uint32_t path;
    TimeNs end_ns;
  };
  void note_pairs(std::uint32_t path, TimeNs start_ns, TimeNs end_ns);

  const WorkGroups& groups_;
  std::vector<Running> running_;
  std::unordered_map<std::uint32_t, double> alone_ns_;     // by path: summed durations
  std::unordered_map<std::uint64_t, double> together_ns_;  // by pair: lower path << 32 | higher path
};

}  // namespace rangefinder
