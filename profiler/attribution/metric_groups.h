// SPDX-License-Identifier: Apache-2.0
//
// Mean and spread of counter values per group of similar launches.
//
//   exact lines ─▶ add(node, …) ─▶ group (path, kernel name, grid, block) or (path, counter range)
//                                     ├─ bytes: n, mean, spread over the launches whose set has them
//                                     └─ per metric set: GPU time, and n, mean, spread of each metric
//
// Purpose: if the requested metrics do not fit in one pass, metric sets take turns over iterations,
// and each launch has the values of one set only. Launches of a group represent each other: the
// group's mean times its count estimates the total of all its launches.
//
// Bounded: kMaxGroups groups and kMaxCells values. Further launches are counted in `folded`, and
// their paths have no estimate. Pure. Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiler/metrics/named_metrics.h"
#include "schema/record.h"

namespace rangefinder {

/// Running mean and spread (Welford).
struct Spread {
  std::uint64_t n = 0;
  double mean = 0;
  double squares = 0;  ///< sum of squared deviations from the mean

  void add(double value) noexcept;
  void add(const Spread& other) noexcept;
  /// Sample standard deviation; 0 for fewer than two numbers.
  [[nodiscard]] double deviation() const noexcept;
};

/// Estimated bytes of all launches of a path, from the measured ones.
struct BytesEstimate {
  bool complete = true;  ///< every group was measured at least once; else the bytes are a lower bound
  double read = 0, write = 0, l2 = 0;  ///< bytes
  /// Squared standard errors of the three.
  double read_variance = 0, write_variance = 0, l2_variance = 0;
  BytesEstimate& operator+=(const BytesEstimate& other) noexcept;
};

/// A metric of a path: over the measured launches, and for all launches.
struct MetricValue {
  std::uint32_t set = 0, metric = 0;  ///< position in MetricGroups::sets(), and in that set
  Spread launches;                    ///< of measured launches or counter ranges
  double value = 0;   ///< metric_adds_up(): estimate for all launches; else mean weighted by GPU time
  double gpu_ns = 0;  ///< estimated GPU time of all launches, from this set's launches
};

class MetricGroups {
 public:
  static constexpr std::size_t kMaxGroups = 65'536;
  static constexpr std::size_t kMaxCells = 524'288;
  /// Values of further sets are not kept.
  static constexpr std::size_t kMaxSets = 64;

  void add_set(const MetricSetRecord& set);
  /// A launch with its own range, or a shared range, of the path at `node`. Not a launch that shares a range.
  void add(std::uint32_t node, const ExactRecord& exact);

  /// In order of first use. Id 0 is the default set, "bytes", which has no metrics besides the bytes.
  [[nodiscard]] const std::vector<MetricSetRecord>& sets() const noexcept { return sets_; }
  /// Sets take turns: launches without bytes are estimated from those with bytes.
  [[nodiscard]] bool rotating() const noexcept { return used_sets_ > 1; }
  /// By position in sets(): whether any launch was measured with it.
  [[nodiscard]] const std::vector<bool>& used_sets() const noexcept { return set_used_; }
  [[nodiscard]] bool any_launch() const noexcept { return used_sets_ != 0; }
  [[nodiscard]] bool any_metrics() const noexcept { return cells_ != 0; }
  /// Launches in no group, because there are too many groups.
  [[nodiscard]] std::uint64_t folded() const noexcept { return folded_; }

  /// By node, for a path's own launches. Nodes without launches have the default value.
  [[nodiscard]] std::vector<BytesEstimate> estimates(std::size_t nodes) const;
  /// By name of a kernel, of its launches that share no range.
  struct KernelEstimate {
    BytesEstimate bytes;
    std::uint64_t launches = 0;
  };
  [[nodiscard]] std::unordered_map<std::uint32_t, KernelEstimate> kernel_estimates() const;
  /// Sum over the node's groups of (mean GPU time in a set x launches), node-major: [node * sets + set].
  /// If a set never measured one of the groups, the group adds nothing and the set's bit is in `missing`.
  struct SetTimes {
    std::vector<double> ns;
    std::vector<std::uint64_t> missing;  ///< by node, one bit per set
  };
  [[nodiscard]] SetTimes set_times(std::size_t nodes) const;
  /// By node: metrics of the path's own launches.
  [[nodiscard]] std::vector<std::vector<MetricValue>> metrics(std::size_t nodes) const;
  /// Merges `other` into `into`.
  void merge(std::vector<MetricValue>& into, const std::vector<MetricValue>& other) const;
  [[nodiscard]] const std::string& metric_name(const MetricValue& value) const {
    return sets_[value.set].metrics[value.metric];
  }

 private:
  struct Key {
    std::uint32_t node = 0, name = 0;
    std::uint32_t kind = 0;  // WorkKind, or 4: a counter range
    Dim3 grid, block;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct SetStatistics {
    std::uint32_t set = 0;
    Spread gpu_ns;
    std::vector<Spread> metrics;
  };
  struct Group {
    std::uint32_t node = 0;
    std::uint32_t kernel = 0;    // name; 0: copies, graphs, counter ranges
    bool is_copy = false;        // of copies or memsets: bytes only
    std::uint64_t launches = 0;  // exact lines of this group
    std::array<Spread, 3> bytes;
    std::vector<SetStatistics> sets;
    [[nodiscard]] BytesEstimate estimate() const noexcept;
  };
  /// kMaxSets: too many sets.
  [[nodiscard]] std::uint32_t set_position(std::uint32_t id);
  [[nodiscard]] Group* group_of(std::uint32_t node, const ExactRecord& exact);
  void add_values(Group& group, const ExactRecord& exact);

  std::vector<MetricSetRecord> sets_;
  std::vector<bool> set_used_;
  std::size_t used_sets_ = 0;
  std::unordered_map<Key, std::uint32_t, Hash> positions_;
  std::vector<Group> groups_;
  std::vector<std::uint64_t> folded_nodes_;  // by node
  std::size_t cells_ = 0;
  std::uint64_t folded_ = 0;
};

}  // namespace rangefinder
