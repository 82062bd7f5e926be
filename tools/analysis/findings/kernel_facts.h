// SPDX-License-Identifier: Apache-2.0
//
// Count and GPU time of each kernel by name, launch configuration and path; its metrics by name.
//
// The totals of a trace group kernels by name and metrics by path. This class adds launch configurations,
// and metrics by kernel. Memory grows with the number of names, configurations, paths and metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schema/record.h"
#include "tools/analysis/model/launched_work.h"
#include "tools/analysis/model/recent_map.h"
#include "tools/analysis/model/trace_totals.h"
#include "tools/analysis/queries/measured_kernels.h"

namespace rangefinder {

struct KernelUse {
  std::uint32_t name = 0, config = 0;
  std::uint64_t count = 0, total_ns = 0;
  bool all_configs = false;  ///< of all configurations; `config` is the one with most time
};

/// The uses of a kernel in one path.
struct KernelPlace {
  KernelUse use;
  std::uint32_t path = 0;
  std::uint32_t graph = 0;               ///< of the last of them; 0: launched singly
  TimeNs first_ns = 0, last_end_ns = 0;  ///< start of the first, end of the last
};

class KernelFacts {
 public:
  /// Metrics of the kernels of a chunk.
  void add(const SelectedRows& rows);
  /// Work in order of start.
  void add(const WorkEvent& event);

  /// In no order.
  [[nodiscard]] std::vector<KernelPlace> places() const;
  /// After the last chunk, before what follows. `trace` must outlive this.
  void evaluate(const TraceTotals& trace, const GpuPeaks& peaks);
  /// nullptr: not in the trace.
  [[nodiscard]] const LaunchConfigRecord* config(std::uint32_t id) const;
  /// Over the measured launches of all configurations and paths. Without values: not measured.
  [[nodiscard]] const MeasuredKernel& measured(std::uint32_t name) const;
  /// Some kernel has a value of this metric of CUPTI, or of this named metric.
  [[nodiscard]] bool any_measured(std::string_view metric) const;
  /// The trace holds exact lines. Their windows serialise launches, so host times and gaps are distorted.
  [[nodiscard]] bool any_exact() const noexcept { return any_exact_; }

 private:
  struct Key {
    std::uint64_t kernel = 0;  // name and config
    std::uint32_t path = 0;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      return std::hash<std::uint64_t>()(key.kernel * 0x9E37'79B9'7F4A'7C15 + key.path);
    }
  };

  RecentMap<Key, KernelPlace, 8192, KeyHash> places_;
  const TraceTotals* trace_ = nullptr;
  MeasuredKernels metrics_;
  std::unordered_map<std::uint32_t, MeasuredKernel> measured_;  // by kernel name
  bool any_exact_ = false;
};

}  // namespace rangefinder
