// SPDX-License-Identifier: Apache-2.0
//
// Count, GPU time and counters of each kernel, by name and launch configuration.
//
// The totals of a trace group kernels by name and metrics by path. This class adds launch configurations,
// and metrics by kernel. Memory grows with the number of names, configurations and metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "schema/read_line.h"
#include "schema/record.h"
#include "tools/analysis/findings/joined_work.h"

namespace rangefinder {

struct KernelUse {
  std::uint32_t name = 0, config = 0;
  std::uint64_t count = 0, total_ns = 0;
};

class KernelFacts {
 public:
  void line(const Line& line);
  void work(const WorkEvent& event);

  /// Longest total first.
  [[nodiscard]] std::vector<KernelUse> uses() const;
  [[nodiscard]] std::uint64_t total_ns() const noexcept { return total_ns_; }
  /// nullptr: not in the trace.
  [[nodiscard]] const LaunchConfigRecord* config(std::uint32_t id) const;
  /// Mean over the kernel's measured launches of all configurations; absent: not measured.
  [[nodiscard]] std::optional<double> metric(std::uint32_t name, std::string_view metric) const;
  /// Sum of those of `metrics` that were measured; absent: none was.
  [[nodiscard]] std::optional<double> metric_sum(std::uint32_t name,
                                                 const std::vector<std::string_view>& metrics) const;
  /// The trace holds exact lines. Their windows serialise launches, so host times and gaps are distorted.
  [[nodiscard]] bool any_exact() const noexcept { return any_exact_; }

 private:
  struct Mean {
    double sum = 0;
    std::uint64_t n = 0;
  };
  void add_values(const ExactRecord& exact);

  std::unordered_map<std::uint64_t, KernelUse> uses_;  // by name and config
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configs_;
  std::unordered_map<std::uint32_t, std::vector<std::string>> sets_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::string, Mean>> metrics_;  // by kernel name
  std::uint64_t total_ns_ = 0;
  bool any_exact_ = false;
};

}  // namespace rangefinder
