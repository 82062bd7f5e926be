// SPDX-License-Identifier: Apache-2.0
//
// Metrics of each kernel by name, over all its measured launches.
//
//   metric_set and exact lines ─▶ add() ─▶ all() ─▶ MeasuredKernel: metrics of CUPTI, derived values
//
// Lines of counter ranges are not used: their values are sums over several kernels. Memory grows with the
// number of kernels, and is bounded by MetricGroups.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/attribution/derived.h"
#include "profiler/attribution/metric_groups.h"
#include "profiler/attribution/named_values.h"
#include "profiler/attribution/path_totals.h"
#include "schema/read_line.h"

namespace rangefinder {

/// Whether the values of this line are of one kernel. Those of a counter range are sums over its launches.
[[nodiscard]] inline bool is_of_one_kernel(const ExactRecord& exact) noexcept {
  return exact.kind == WorkKind::kernel && !exact.is_counter_range && !shares_counter_range(exact) &&
         exact.measured;
}

struct MeasuredKernel {
  std::uint64_t launches = 0;  ///< measured; sums are of these
  MetricsByName metrics;
  Derived derived;
  NamedValues values;

  /// Of a metric of CUPTI: mean over the launches that measured it; absent: none did.
  [[nodiscard]] std::optional<double> mean(std::string_view metric) const;
  /// Of a named metric that is a sum (MetricForm::sum).
  [[nodiscard]] std::optional<double> per_launch(std::string_view name) const;
  /// Highest share of a peak that was measured, 0 to 1: of compute, and of L1, L2 and DRAM. kRoofShare
  /// (derived.h) or more: that unit limits the kernel.
  [[nodiscard]] std::optional<double> compute_share() const;
  [[nodiscard]] std::optional<double> memory_share() const;
  [[nodiscard]] std::optional<double> dram_share() const;
};

/// A level of the memory as a kernel used it; absent values were not measured.
struct MemoryLevel {
  const char* key;                                               ///< "l1"
  const char* title;                                             ///< "L1"
  std::optional<double> bytes_per_launch, hit_rate, throughput;  ///< percent: hit rate, share of its peak
  [[nodiscard]] bool measured() const noexcept { return bytes_per_launch || hit_rate || throughput; }
};
/// L1, shared and local memory, L2, DRAM. `l2_bytes`, `dram_bytes`: of a launch, which no named metric has.
[[nodiscard]] std::vector<MemoryLevel> memory_levels(const MeasuredKernel& kernel,
                                                     std::optional<double> l2_bytes,
                                                     std::optional<double> dram_bytes);

class MeasuredKernels {
 public:
  void add(const MetricSetRecord& set) { groups_.add_set(set); }
  void add(const ExactRecord& exact);
  /// After the last one: those of `kernels` that were measured, by name. This object must outlive them.
  [[nodiscard]] std::unordered_map<std::uint32_t, MeasuredKernel> all(
      const std::vector<KernelTotals>& kernels, const GpuPeaks& peaks) const;

 private:
  struct Lines {
    std::uint32_t position = 0;  // in groups_
    std::uint64_t launches = 0;
    double gpu_ns = 0;
  };
  /// Sets that measured too small a part of the kernel's time, a bit each.
  [[nodiscard]] std::uint64_t missing_sets(const Lines& lines, const MetricGroups::SetTimes& times) const;
  MetricGroups groups_;
  std::unordered_map<std::uint32_t, Lines> lines_;  // by kernel name
};

}  // namespace rangefinder
