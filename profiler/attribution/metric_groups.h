// SPDX-License-Identifier: Apache-2.0
//
// Values of counters per group of launches that ought to be alike: mean and spread.
//
//   exact lines ─▶ add(node, …) ─▶ group (path, kernel name, grid, block) or (path, counter range)
//                                     ├─ bytes: n, mean, spread           over the launches whose set has
//                                     them └─ per metric set: GPU time, and n, mean, spread of each metric
//
// What this is for: where more metrics are asked for than one pass holds, sets take turns over
// repetitions, so each launch has the values of one set only. Launches of one group stand for
// each other: a group's mean times its count is what all its launches would have shown.
//
// Bounded: kMaxGroups groups and kMaxCells values; launches beyond are counted in `folded`, and
// a path with such has no estimate. Pure, not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// Mean and spread of numbers that come one by one (Welford).
struct Spread {
  std::uint64_t n = 0;
  double mean = 0;
  double squares = 0;  ///< sum of squared distances from the mean

  void add(double value) noexcept;
  void add(const Spread& other) noexcept;
  /// Of the numbers seen; 0 for fewer than two.
  [[nodiscard]] double deviation() const noexcept;
};

/// What all launches of a path would have shown, from those that were measured.
struct BytesEstimate {
  bool complete = true;  ///< every group was measured at least once; else the rest means nothing
  double read = 0, write = 0, l2 = 0;  ///< bytes
  /// Squared standard errors of the three.
  double read_variance = 0, write_variance = 0, l2_variance = 0;
  BytesEstimate& operator+=(const BytesEstimate& other) noexcept;
};

/// A metric of a path: over the measured launches, and for all of them.
struct MetricValue {
  std::uint32_t set = 0, metric = 0;  ///< position in MetricGroups::sets(), and in that set
  Spread launches;                    ///< of measured launches or counter ranges
  double value = 0;                   ///< adds_up: estimate for all launches; else the mean by GPU time
  double gpu_ns = 0;                  ///< of all launches, as they took when this was measured
};

/// Names that end like this may be added over launches; others (ratios, percent) are averaged.
[[nodiscard]] inline bool metric_adds_up(std::string_view metric) noexcept {
  return metric.ends_with(".sum");
}

class MetricGroups {
 public:
  static constexpr std::size_t kMaxGroups = 65'536;
  static constexpr std::size_t kMaxCells = 524'288;
  /// Of sets beyond, the values are not kept.
  static constexpr std::size_t kMaxSets = 64;

  void add_set(const MetricSetRecord& set);
  /// A launch of its own, or a counter range, of the path at `node`. Not a launch that shares a range.
  void add(std::uint32_t node, const ExactRecord& exact);

  /// In order of first use. Id 0 is the default set, named "bytes", which has no metrics but the bytes.
  [[nodiscard]] const std::vector<MetricSetRecord>& sets() const noexcept { return sets_; }
  /// Sets take turns: launches with bytes and without are estimated for each other.
  [[nodiscard]] bool rotating() const noexcept { return used_sets_ > 1; }
  /// By position in sets(): some launch was measured with it.
  [[nodiscard]] const std::vector<bool>& used_sets() const noexcept { return set_used_; }
  [[nodiscard]] bool any_launch() const noexcept { return used_sets_ != 0; }
  [[nodiscard]] bool any_metrics() const noexcept { return cells_ != 0; }
  /// Launches that belong to no group, since there are too many groups.
  [[nodiscard]] std::uint64_t folded() const noexcept { return folded_; }

  /// Each by node, for a path's own launches; nodes without launches are default.
  [[nodiscard]] std::vector<BytesEstimate> estimates(std::size_t nodes) const;
  /// Sum over the node's groups of (mean GPU time in a set x launches), node-major: [node * sets + set].
  /// A group that a set never measured adds nothing; its bit is in `missing` then.
  struct SetTimes {
    std::vector<double> ns;
    std::vector<std::uint64_t> missing;  ///< by node, a bit a set
  };
  [[nodiscard]] SetTimes set_times(std::size_t nodes) const;
  /// By node: metrics of the path's own launches.
  [[nodiscard]] std::vector<std::vector<MetricValue>> metrics(std::size_t nodes) const;
  /// Makes `into` the metrics of both.
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
    std::uint64_t launches = 0;  // lines of this group
    std::array<Spread, 3> bytes;
    std::vector<SetStatistics> sets;
  };
  /// kMaxSets: there are too many.
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
