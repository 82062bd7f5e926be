// SPDX-License-Identifier: Apache-2.0
//
// Totals per path: GPU time, bytes, calls. Pure: records in, table out. Used by the
// drain thread for summary.json and by the tools for a trace, so that both agree.
//
//   KernelRecord, MemcpyRecord, ExactRecord, RangeRecord ─▶ add() ─▶ by own path
//                                  paths(): parents get the sums of their children
//
// Kernels and their time come from kernel records, at the path of the launch; bytes come from
// exact lines. Both are joined by correlation id (exact_origins.h), which shows which launches
// lack bytes. If launches share a counter range, its bytes count once, at the range's path. If
// metric sets take turns, sums cover the launches with values, and an estimate for all
// launches is kept beside them (metric_groups.h).
//
// Definitions: schema/README.md, "summary.json". Records may come in any order of time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/attribution/busy_times.h"
#include "profiler/attribution/exact_origins.h"
#include "profiler/attribution/exact_truth.h"
#include "profiler/attribution/holds.h"
#include "profiler/attribution/metric_groups.h"
#include "schema/record.h"

namespace rangefinder {

inline constexpr std::size_t kCopyKinds = static_cast<std::size_t>(CopyKind::DtoA) + 1;

/// Counter values summed over launches. A counter range's values count for all launches in it.
struct CounterTotals {
  std::uint64_t launches = 0;    ///< launches of exact windows, each once
  std::uint64_t kernels = 0;     ///< of these, kernels and graphs
  std::uint64_t measured = 0;    ///< launches with values
  std::uint64_t unmeasured = 0;  ///< launches of exact windows without values
  /// GPU time of measured kernels and graphs, from counters: for rates and their check.
  std::uint64_t gpu_ns = 0;
  std::uint64_t not_exclusive = 0;  ///< counter ranges that contain work of another path, thread or stream
  std::uint64_t with_bytes = 0;     ///< measured launches whose metric set includes the bytes below
  /// Of kernels, and of counter ranges that contain only kernels: launches, bytes, and the time in which the
  /// bytes moved, from counters.
  std::uint64_t timed_kernels = 0, timed_dram_bytes = 0, timed_l2_bytes = 0, timed_ns = 0;
  std::uint64_t recorded_kernels = 0;  ///< of `kernels`, those with a timed kernel record
  std::uint64_t recorded_ns = 0;       ///< summed durations of these records, at the path of the launch
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;
  std::uint64_t l2_bytes = 0;
  CounterTotals& operator+=(const CounterTotals& other) noexcept;
  /// The values of a line of `of_launches` launches, of which `of_kernels` are kernels.
  void add(const ExactRecord& exact, std::uint64_t of_launches, std::uint64_t of_kernels) noexcept;
};

/// Totals of one path. `*_exclusive`: launched at the path itself; others include its children.
struct PathTotals {
  std::uint32_t path = 0;   ///< 0: launched outside any range
  std::uint32_t depth = 0;  ///< 1: outermost
  std::uint64_t calls = 0;
  std::uint64_t host_ns = 0;
  std::uint64_t kernels = 0;        ///< kernel records
  std::uint64_t timed_kernels = 0;  ///< of these, with a duration
  std::uint64_t graphs = 0;         ///< records of whole graph launches
  std::uint64_t timed_graphs = 0;   ///< of these, with a duration; included in the three below
  std::uint64_t gpu_ns = 0;
  std::uint64_t gpu_ns_exclusive = 0;
  std::uint64_t gpu_busy_ns = 0;
  CounterTotals counters;
  std::uint64_t records_without_exact = 0;  ///< kernels, copies and memsets whose launch has no exact line
  /// Graph node records whose launch has an exact line at another path, which has the bytes. Counted at the
  /// node's path (launched elsewhere) and at the launch's path (made elsewhere).
  std::uint64_t nodes_launched_elsewhere = 0, nodes_made_elsewhere = 0;
  /// Of all calls. If the kernels are nodes of one graph, made in this path, times its replays. 0: none were
  /// declared, or a part of the kernels is replayed, or several graphs have nodes of this path.
  std::uint64_t declared_bytes = 0;
  std::uint64_t captured_kernels = 0;  ///< of `kernels`, nodes of graphs, at the path that made them
  std::uint64_t replays = 0;           ///< graph launches that ran these
  bool several_graphs = false;
  std::array<std::uint64_t, kCopyKinds> memcpy_bytes{};  ///< by CopyKind

  // If metric sets take turns.
  bool has_estimate = false;       ///< some launches have no bytes
  BytesEstimate estimate;          ///< if so: for all launches; a parent's is the sum of its children's
  bool unstable = false;           ///< GPU time differs by more than kUnstable between sets
  std::uint64_t missing_sets = 0;  ///< bits by position in MetricGroups::sets(): sets that lack a group

  /// Adds what a parent's row includes of its child's.
  void add_child(const PathTotals& child) noexcept;
  /// Call it on a complete row: the declared bytes of one call become those of all replays.
  void declare_replays() noexcept;
  /// Launches missing from the sums of bytes: those without values, those of other metric sets, and work
  /// outside exact windows, where each record counts.
  [[nodiscard]] std::uint64_t launches_without_bytes() const noexcept;
  /// Graph node records launched at another path, which has their bytes. If the row also includes that path,
  /// they cancel out.
  [[nodiscard]] std::uint64_t nodes_without_bytes() const noexcept;
  /// Time in which its kernels ran; overlapping ones count once. Their sum if it was not collected.
  [[nodiscard]] std::uint64_t run_ns() const noexcept { return gpu_busy_ns != 0 ? gpu_busy_ns : gpu_ns; }
  /// False: kernels ran, but no record has their duration.
  [[nodiscard]] bool has_gpu_time() const noexcept;
};

/// If a path's GPU time differs by more than this between metric sets, its iterations are not alike.
inline constexpr double kUnstable = 0.10;

/// Totals by kernel name.
struct KernelTotals {
  std::uint32_t name = 0;
  std::uint64_t count = 0;  ///< records
  std::uint64_t timed = 0;  ///< of these, with a duration
  std::uint64_t total_ns = 0, min_ns = 0, max_ns = 0;
  CounterTotals counters;
  /// If metric sets take turns, and some launches have no bytes: of all launches.
  std::optional<BytesEstimate> estimate;

  void add_execution(std::uint64_t ns) noexcept;
  [[nodiscard]] std::uint64_t launches_without_bytes() const noexcept {
    return count < counters.with_bytes ? 0 : count - counters.with_bytes;
  }
};

/// Totals by direction and memory kinds.
struct MemcpyTotals {
  CopyKind kind = CopyKind::unknown;
  MemoryKind source = MemoryKind::unknown, destination = MemoryKind::unknown;
  std::uint64_t count = 0, bytes = 0;
  std::uint64_t timed = 0;  ///< records with a duration
  std::uint64_t total_ns = 0;
};

/// Collects totals. Not thread-safe. Memory: half a KiB per path.
///
/// A parent's id is smaller than its child's, as in every trace (ids ascend and a parent is named first). A
/// path that violates this counts as outermost, so that no chain can be a cycle.
class TotalsBuilder {
 public:
  TotalsBuilder();

  /// Sets the parent of a path. Call before the path's first record, or its busy time may be missing at the
  /// parents. A path without this call counts as outermost.
  void add_path(const PathRecord& path);
  /// Category ids named "rangefinder.bytes" make a range's u64 payload declared bytes.
  void add_category(const CategoryRecord& category);
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(const GraphRecord& graph);
  void add(const ExactRecord& exact);
  /// The part of a record or range that began before the span of time that is summed: its time counts, the
  /// record itself does not.
  void add_rest(const KernelRecord& kernel);
  void add_rest(const MemcpyRecord& copy);
  void add_rest(const GraphRecord& graph);
  void add_rest(const RangeRecord& range);
  /// A kernel or whole graph that is not summed, in the order of the others: what overlaps it is not busy
  /// time a second time, so that the busy times of disjoint parts of a trace add up.
  void pass(const GpuWork& work);
  /// The trace has exact lines: records of graph launches wait for theirs. Call before the first record.
  void expect_exact_lines() noexcept { expects_exact_ = true; }
  void add(const RangeRecord& range);
  /// Call before the ranges that it is in: their host time leaves it out.
  void add(const HoldRecord& hold) { holds_.add(hold); }
  /// Call before the first exact line that refers to it.
  void add(const MetricSetRecord& set) { groups_.add_set(set); }

  /// Call it after the last record: the functions below are faster then.
  void settle() {
    order_.finish([this](const BusyWork& next) { put_busy(busy_, next); });
  }

  /// Inclusive rows of every path with a call or work: parents before children, children in order of first
  /// appearance. `calls`, `host_ns` and `declared_bytes` are the path's own, because nested ranges are
  /// already inside it. The row of path 0 is always present, and last.
  [[nodiscard]] std::vector<PathTotals> paths() const;
  /// Metrics by path, inclusive; paths without metrics are omitted.
  [[nodiscard]] std::unordered_map<std::uint32_t, std::vector<MetricValue>> path_metrics() const;
  [[nodiscard]] const MetricGroups& groups() const noexcept { return groups_; }
  /// Of large copies alone in their counter range.
  [[nodiscard]] const CopyTruth& truth() const noexcept { return truth_.truth(); }
  /// Heaviest first.
  [[nodiscard]] std::vector<KernelTotals> kernels() const;
  /// Most bytes first.
  [[nodiscard]] std::vector<MemcpyTotals> copies() const;
  /// First start and last end of all GPU work; {0, 0} without work.
  [[nodiscard]] std::pair<TimeNs, TimeNs> gpu_span() const noexcept { return {first_ns_, last_ns_}; }
  /// Length of the union of all kernels of all paths.
  [[nodiscard]] std::uint64_t gpu_busy_ns() const;

 private:
  struct Node {
    PathTotals own;
    std::uint32_t parent = 0;                   // position in nodes_; 0: outermost
    bool used = false;                          // has a call or work
    std::uint32_t graph = 0, graph_launch = 0;  // of the last captured kernel: id, correlation
  };
  [[nodiscard]] std::uint32_t position(std::uint32_t path);
  Node& used_node(std::uint32_t path);
  /// Busy time of each path, inclusive, and of all: kernels and whole graphs.
  struct Busy {
    std::vector<IntervalUnion> paths;  // by position in nodes_
    IntervalUnion all;
  };
  static void add_captured(Node& node, const GpuWork& work);
  /// Adds GPU and busy time at a position, and returns the duration; nullopt: the record has no times.
  std::optional<std::uint64_t> add_time(const GpuWork& work, std::uint32_t at);
  void put_busy(Busy& busy, const BusyWork& work) const;
  [[nodiscard]] Busy busy() const;
  MemcpyTotals& totals_of(const MemcpyRecord& copy);
  /// Widens gpu_span(). False: the record has no times.
  bool add_span(const GpuWork& work) noexcept;
  /// The exact line of the record's launch, or what its launch holds until that line comes. Counts the record
  /// as lacking bytes if there is neither, or if the line is at another path.
  struct Coverage {
    ExactOrigins::Origin* origin = nullptr;
    ExactOrigins::Held* held = nullptr;
  };
  Coverage add_coverage(const GpuWork& work, std::uint32_t at);
  void add_held(const ExactOrigins::Held& held, std::uint32_t at);
  void add_counter_range(const ExactRecord& exact);
  [[nodiscard]] std::vector<std::uint32_t> parents_first() const;
  void add_rotation(const std::vector<std::uint32_t>& order, std::vector<PathTotals>& rows) const;
  void add_estimates(std::vector<KernelTotals>& kernels) const;

  std::vector<Node> nodes_;  // in order of first appearance; [0] is "outside any range"
  std::unordered_map<std::uint32_t, std::uint32_t> positions_;  // path id to position in nodes_
  std::uint32_t last_path_ = 0, last_position_ = 0;             // of the latest lookup
  std::unordered_map<std::uint32_t, KernelTotals> kernels_;
  std::unordered_map<std::uint32_t, MemcpyTotals> copies_;
  ExactOrigins origins_;
  bool expects_exact_ = false;
  MetricGroups groups_;  // by position in nodes_
  ExactTruth truth_;
  Holds holds_{65'536};                                                       // 1 MiB for each thread
  std::vector<std::pair<std::uint32_t, std::uint32_t>> declared_categories_;  // domain, category
  mutable TimeOrder<BusyWork> order_;  // key: position in nodes_; mutable: reading sorts
  Busy busy_;                          // of the work that has left order_
  TimeNs first_ns_ = 0, last_ns_ = 0;
  bool any_span_ = false;
};

/// Path as text: names joined by '/'; a '/' or '\' inside a name is escaped with '\'.
/// `name_of(id)` returns a path's own name, `parent_of(id)` its parent. A parent whose id is not
/// smaller ends the chain: see TotalsBuilder.
template <typename NameOf, typename ParentOf>
[[nodiscard]] std::string join_path(std::uint32_t path, NameOf&& name_of, ParentOf&& parent_of) {
  std::vector<std::uint32_t> levels;
  while (path != 0) {
    levels.push_back(path);
    const std::uint32_t parent = parent_of(path);
    path = parent < path ? parent : 0;
  }
  std::string out;
  for (auto it = levels.rbegin(); it != levels.rend(); ++it) {
    if (!out.empty()) out += '/';
    for (const char c : name_of(*it)) {
      if (c == '/' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace rangefinder
