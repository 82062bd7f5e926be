// SPDX-License-Identifier: Apache-2.0
//
// Makes the lines of launches that were measured with counter ranges:
//
//   MetricSetRecord ─▶ which value is which ──┐
//   ExactLaunch ──▶ its graph is known? ──────┴▶ ExactRecord
//                     └─ no: waits, in order, for the first record of the launch
//
// Only in old recordings the graph of a launch is not known at once. Drain thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>

#include "profiler/counters/exact/exact_launch.h"
#include "profiler/drain/event_decoder.h"
#include "profiler/drain/launch_table.h"
#include "profiler/events/recorder.h"
#include "profiler/output/kernel_names.h"

namespace rangefinder {

class ExactJoin {
 public:
  ExactJoin(Recorder& recorder, KernelNames& kernels, const LaunchTable& launches) noexcept
      : recorder_(recorder), kernels_(kernels), launches_(launches) {}

  /// The set's line; empty: its metrics have keys of their own in every line.
  [[nodiscard]] std::optional<MetricSetRecord> add(const MetricSetRecord& set);
  /// Counter ranges are in use.
  [[nodiscard]] bool in_use() const noexcept { return !metric_sets_.empty(); }

  /// Whether its line must wait. A launch whose graph is known waits behind one whose is not.
  [[nodiscard]] bool waits(const ExactLaunch& launch) const;
  void put(const ExactLaunch& launch, std::int64_t now_ns) { waiting_.push_back({now_ns, launch}); }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }
  /// The oldest waits no longer, or since before `since_ns`.
  [[nodiscard]] bool is_due(std::int64_t since_ns) const;
  [[nodiscard]] ExactLaunch pop();

  /// `bytes_path` is not set.
  [[nodiscard]] ExactRecord record(const ExactLaunch& launch, const EventDecoder& decoder);
  /// The deepest path that contains the creation of all work of a launched graph; 0: there is none, or some
  /// of it is unknown.
  [[nodiscard]] std::uint32_t common_path(std::uint32_t correlation) const;

 private:
  /// A metric set, and the indices of its byte metrics.
  struct MetricSet {
    MetricSetRecord record;
    bool has_bytes = false;
    double overhead_ns = kRangeOverheadNs;  ///< of its counter ranges
    std::size_t dram_read = 0, dram_write = 0, l2 = 0;
  };
  struct Waiting {
    std::int64_t since_ns;
    ExactLaunch launch;
  };
  void read_values(const ExactLaunch& launch, ExactRecord& record) const;
  [[nodiscard]] bool is_graph_known(const ExactLaunch& launch) const;
  [[nodiscard]] std::uint32_t common_of(std::uint32_t a, std::uint32_t b) const noexcept;

  Recorder& recorder_;
  KernelNames& kernels_;
  const LaunchTable& launches_;
  std::unordered_map<std::uint32_t, MetricSet> metric_sets_;
  std::deque<Waiting> waiting_;  // oldest first
};

}  // namespace rangefinder
