// SPDX-License-Identifier: Apache-2.0
//
// Breakdowns of kernels and copies: by module, launch configuration, size and duration.
//
//   kernel lines ─▶ (kernel, path), (kernel, configuration), durations of each kernel
//   copy lines   ─▶ (kind, source, destination, path), and by size (power of two of bytes)
//
// TraceTotals has the totals by name. Memory grows with the pairs that occur. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include "schema/record.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/memcpy.h"
#include "tools/analysis/table/table.h"
#include "tools/page/page_indices.h"
#include "tools/page/page_limits.h"

namespace rangefinder {

struct BreakdownSum {
  std::uint64_t count = 0, timed = 0, total_ns = 0, min_ns = 0, max_ns = 0;
  void add(const GpuWork& work);
};

/// Durations in quarter octaves: bucket b holds [2^(b/4), 2^((b+1)/4)) ns.
using DurationBuckets = std::map<int, std::uint64_t>;
[[nodiscard]] int duration_bucket(std::uint64_t ns) noexcept;

class WorkBreakdown {
 public:
  using Pair = std::pair<std::uint32_t, std::uint32_t>;
  /// The key of copies in a breakdown.
  struct CopyKey {
    CopyKind kind;
    MemoryKind source, destination;
    std::uint32_t detail;  ///< path, or log2 of the bytes of one copy
    auto operator<=>(const CopyKey&) const = default;
  };
  struct PairHash {
    std::size_t operator()(const Pair& pair) const noexcept {
      return std::hash<std::uint64_t>{}(std::uint64_t{pair.first} << 32 | pair.second);
    }
  };

  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);

  std::unordered_map<Pair, BreakdownSum, PairHash> by_path;    ///< kernel name, path
  std::unordered_map<Pair, BreakdownSum, PairHash> by_config;  ///< kernel name, configuration
  std::unordered_map<std::uint32_t, DurationBuckets> durations;
  std::map<CopyKey, CopyAmount> copies_by_path, copies_by_size;

  /// Copies by module and direction, most bytes first; by direction and size.
  [[nodiscard]] Table copies_of_modules(const TraceTotals& trace) const;
  [[nodiscard]] Table copy_sizes() const;
};

/// Adds "kernel_modules", as columns, and "kernel_configs".
void add_breakdown_tables(nlohmann::ordered_json& out, const TraceNames& names, const WorkBreakdown& all,
                          const PageLimits& limits, const PageIndices& indices,
                          nlohmann::ordered_json& omitted);

}  // namespace rangefinder
