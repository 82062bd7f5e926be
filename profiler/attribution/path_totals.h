// SPDX-License-Identifier: Apache-2.0
//
// Totals per path: GPU time, bytes, calls. Pure: records in, table out; used by the
// drain thread for summary.json and by the tools over a trace, so that both agree.
//
//   KernelRecord, MemcpyRecord, ExactRecord, RangeRecord ─▶ add() ─▶ by own path
//                                  paths(): parents get the sums of their children
//
// Definitions: schema/README.md, "summary.json". Times may come in any order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/attribution/interval_union.h"
#include "schema/record.h"

namespace rangefinder {

inline constexpr std::size_t kCopyKinds = static_cast<std::size_t>(CopyKind::DtoA) + 1;

/// Bytes of counters summed over launches.
struct CounterTotals {
  std::uint64_t measured = 0;          ///< launches with values
  std::uint64_t unmeasured = 0;        ///< launches of an exact window without
  std::uint64_t measured_kernels = 0;  ///< of the measured, kernels and graphs: those gpu_ns sums
  std::uint64_t gpu_ns = 0;
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;
  std::uint64_t l2_bytes = 0;
  CounterTotals& operator+=(const CounterTotals& other) noexcept;
};

/// One row: what happened in a path. `*_exclusive`: launched at the path itself, else inclusive.
struct PathTotals {
  std::uint32_t path = 0;   ///< 0: launched outside of any range
  std::uint32_t depth = 0;  ///< 1: outermost
  std::uint64_t calls = 0;
  std::uint64_t host_ns = 0;
  std::uint64_t kernels = 0;           ///< kernel records and exact kernels and graphs
  std::uint64_t activity_kernels = 0;  ///< of these, timed by records: the rest by counters, or not at all
  std::uint64_t gpu_ns = 0;
  std::uint64_t gpu_ns_exclusive = 0;
  std::uint64_t gpu_busy_ns = 0;  ///< over records only
  CounterTotals counters;
  std::uint64_t declared_bytes = 0;
  std::array<std::uint64_t, kCopyKinds> memcpy_bytes{};  ///< by CopyKind
};

/// By kernel name.
struct KernelTotals {
  std::uint32_t name = 0;
  std::uint64_t count = 0;
  std::uint64_t timed = 0;  ///< of these, with a duration: by record or by counter
  std::uint64_t total_ns = 0, min_ns = 0, max_ns = 0;
  CounterTotals counters;
};

/// By direction and memory.
struct MemcpyTotals {
  CopyKind kind = CopyKind::unknown;
  MemoryKind source = MemoryKind::unknown, destination = MemoryKind::unknown;
  std::uint64_t count = 0, bytes = 0;
  std::uint64_t timed = 0;  ///< records with a duration
  std::uint64_t total_ns = 0;
};

/// Collects totals. Not thread-safe. Memory: half a KiB a path.
///
/// A parent's id is smaller than its child's, as in every trace (ids count up and a parent is
/// named first). A path that claims otherwise is taken as outermost, so no chain can be a circle.
class TotalsBuilder {
 public:
  TotalsBuilder();

  /// Names the parent of a path: before the first record of that path, or its busy time is
  /// missing at the parents. A path never named counts as outermost.
  void add_path(const PathRecord& path);
  /// Category ids named "rangefinder.bytes" make a range's u64 payload declared bytes.
  void add_category(const CategoryRecord& category);
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(const ExactRecord& exact);
  void add(const RangeRecord& range);

  /// Inclusive rows of every path that had a call or work, parents before children, children in
  /// order of first appearance. `calls`, `host_ns` and `declared_bytes` are a path's own: ranges
  /// below are inside of it already. The row with path 0 is last and always there.
  [[nodiscard]] std::vector<PathTotals> paths() const;
  /// Heaviest first.
  [[nodiscard]] std::vector<KernelTotals> kernels() const;
  /// Most bytes first.
  [[nodiscard]] std::vector<MemcpyTotals> copies() const;
  /// First start and last end of all GPU work; {0, 0} if there was none.
  [[nodiscard]] std::pair<TimeNs, TimeNs> gpu_span() const noexcept { return {first_ns_, last_ns_}; }
  /// Length of the union of all kernels of all paths.
  [[nodiscard]] std::uint64_t gpu_busy_ns() const noexcept { return busy_.length(); }

 private:
  struct Node {
    PathTotals own;
    std::uint32_t parent = 0;  // position in nodes_; 0: outermost
    bool used = false;         // had a call or work
    IntervalUnion busy;        // inclusive: a kernel is added at every level above it
  };
  [[nodiscard]] std::uint32_t position(std::uint32_t path);
  Node& used_node(std::uint32_t path);
  /// Of records with times: widens gpu_span(). False: CUPTI could not time it.
  bool add_span(const GpuWork& work) noexcept;
  [[nodiscard]] std::vector<std::uint32_t> parents_first() const;

  std::vector<Node> nodes_;  // in order of first appearance; [0] is "outside of any range"
  std::unordered_map<std::uint32_t, std::uint32_t> positions_;  // path id to position in nodes_
  std::uint32_t last_path_ = 0, last_position_ = 0;             // of the latest look-up
  std::unordered_map<std::uint32_t, KernelTotals> kernels_;
  std::unordered_map<std::uint32_t, MemcpyTotals> copies_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> declared_categories_;  // domain, category
  IntervalUnion busy_;
  TimeNs first_ns_ = 0, last_ns_ = 0;
  bool any_span_ = false;
};

/// Path as text: names joined by '/', a '/' or '\' inside a name preceded by '\'.
/// `name_of(id)` gives a path's own name, `parent_of(id)` its parent. A parent whose id is not
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
