// SPDX-License-Identifier: Apache-2.0
//
// The first GPU work of a program: whether it repeats, for programs without ranges, and what iterations ran.
//
//   graph 7 launched 100 times                      ─▶ each launch begins an iteration
//   kernels  a b c d  a b c d  a b c d  …           ─▶ each period is one, from its longest pause on
//
// Uses the graph with the most GPU time: half of that from its first launch to its last, and a tenth of all,
// which includes set-up such as autotuning. A period holds if 90
// % of the kernels, from the first to the last iteration, equal the one a period later. Keeps the first
// kMaxKernels kernels and kMaxLaunches launches, in about 32 MB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

/// The beginning of one iteration.
struct RepeatedStart {
  TimeNs host_ns = 0;  ///< of the launch; of the work if the launch is unknown
  TimeNs gpu_ns = 0;
  std::uint32_t thread = 0;
};

struct Repetition {
  std::vector<RepeatedStart> starts;  ///< sorted by time; empty: nothing repeats
  TimeNs end_ns = 0;                  ///< end of the last iteration's work
  std::uint32_t graph = 0;            ///< id of the repeated graph
  std::size_t period = 0;             ///< kernels in an iteration, if kernels repeat
};

class RepeatedWork {
 public:
  static constexpr std::size_t kMaxKernels = 200'000;
  static constexpr std::size_t kMaxLaunches = 2 * kMaxKernels;
  /// Fewer launches of a graph are no iterations, and fewer periods of kernels, which chance may bring.
  static constexpr std::size_t kMinLaunches = 3, kMinPeriods = 5;

  /// Call them for every record; other kinds have no effect.
  void add(const KernelRecord& kernel);
  void add(const GraphRecord& graph);
  void add(const MemcpyRecord& copy);
  void add(const LaunchRecord& launch);
  /// False: only work of a graph has an effect, and there was none so far.
  [[nodiscard]] bool wants_more() const noexcept {
    return kernels_.size() < kMaxKernels || launches_.size() < kMaxLaunches || !graphs_.empty();
  }
  [[nodiscard]] Repetition graphs() const;
  [[nodiscard]] Repetition kernels() const;

  /// False: later work was not kept.
  [[nodiscard]] bool has_all() const noexcept {
    return kernels_.size() < kMaxKernels && copies_.size() < kMaxKernels && graph_launches_ < kMaxLaunches;
  }
  /// see(GpuWork, what, ns): kept kernels by name and launches of graphs; copies by kind if there are
  /// neither. Of the work it has what Iterations::of() reads.
  template <typename See>
  void each(See&& see) const;
  /// Of kernels and graphs: all, and those launched outside of any range.
  [[nodiscard]] std::uint64_t gpu_ns() const noexcept { return gpu_ns_; }
  [[nodiscard]] std::uint64_t outside_ns() const noexcept { return outside_ns_; }

 private:
  struct Work {
    TimeNs start_ns, end_ns;
    std::uint32_t name, correlation;  ///< of a copy its kind
    std::uint64_t range;
  };
  struct GraphLaunch {
    TimeNs start_ns = 0, end_ns = 0;
    std::uint64_t gpu_ns = 0;
  };
  struct Graph {
    std::uint64_t gpu_ns = 0;
    std::unordered_map<std::uint32_t, GraphLaunch> launches;  ///< by correlation
  };
  struct Launch {
    TimeNs start_ns;
    std::uint32_t thread;
  };
  struct PeriodicPart {
    std::size_t from = 0, to = 0, period = 0;
  };
  void count(const GpuWork& work);
  [[nodiscard]] bool is_main(const Graph& graph, TimeNs from_ns, TimeNs to_ns) const;
  void add_graph(const GpuWork& work);
  [[nodiscard]] static PeriodicPart periodic_part_of(const std::vector<Work>& order,
                                                     const std::vector<std::size_t>& at);
  [[nodiscard]] Repetition starts(const std::vector<Work>& order, const PeriodicPart& part) const;
  [[nodiscard]] RepeatedStart start_of(std::uint32_t correlation, TimeNs gpu_ns) const;

  std::vector<Work> kernels_, copies_;
  std::uint64_t gpu_ns_ = 0, outside_ns_ = 0;
  std::unordered_map<std::uint32_t, Graph> graphs_;
  std::size_t graph_launches_ = 0;
  std::unordered_map<std::uint32_t, Launch> launches_;  // by correlation
};

template <typename See>
void RepeatedWork::each(See&& see) const {
  constexpr std::uint32_t kAnyGraph = UINT32_MAX;  // a program may make a graph for each iteration
  const bool only_copies = kernels_.empty() && graphs_.empty();
  for (const Work& work : only_copies ? copies_ : kernels_) {
    const GpuWork of{.start_ns = work.start_ns, .correlation = work.correlation, .range = work.range};
    see(of, work.name, static_cast<std::uint64_t>(work.end_ns - work.start_ns));
  }
  for (const auto& [id, graph] : graphs_) {
    for (const auto& [correlation, launch] : graph.launches) {
      const GpuWork of{.start_ns = launch.start_ns, .correlation = correlation, .graph = id};
      see(of, kAnyGraph, launch.gpu_ns);
    }
  }
}

}  // namespace rangefinder
