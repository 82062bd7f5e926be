// SPDX-License-Identifier: Apache-2.0
//
// Count, GPU time and counters of each kernel, by name, launch configuration and path.
//
// The totals of a trace group kernels by name and metrics by path. This class adds launch configurations,
// and metrics by kernel. Memory grows with the number of names, configurations, paths and metrics.
#pragma once

#include <cstdint>
#include <functional>
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

/// The uses of a kernel in one path.
struct KernelPlace {
  KernelUse use;
  std::uint32_t path = 0;
  std::uint32_t graph = 0;               ///< of the last of them; 0: launched singly
  TimeNs first_ns = 0, last_end_ns = 0;  ///< start of the first, end of the last
};

class KernelFacts {
 public:
  void line(const Line& line);
  void work(const WorkEvent& event);

  /// In no order.
  [[nodiscard]] std::vector<KernelPlace> places() const;
  /// nullptr: not in the trace.
  [[nodiscard]] const LaunchConfigRecord* config(std::uint32_t id) const;
  /// Mean over the kernel's measured launches of all configurations; absent: not measured.
  [[nodiscard]] std::optional<double> metric(std::uint32_t name, std::string_view metric) const;
  /// Sum of those of `metrics` that were measured; absent: none was.
  [[nodiscard]] std::optional<double> metric_sum(std::uint32_t name,
                                                 const std::vector<std::string_view>& metrics) const;
  /// Some kernel has a value of it.
  [[nodiscard]] bool any_metric(std::string_view metric) const;
  /// The trace holds exact lines. Their windows serialise launches, so host times and gaps are distorted.
  [[nodiscard]] bool any_exact() const noexcept { return any_exact_; }

 private:
  struct Mean {
    double sum = 0;
    std::uint64_t n = 0;
  };
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
  void add_values(const ExactRecord& exact);

  std::unordered_map<Key, KernelPlace, KeyHash> places_;
  std::unordered_map<std::uint32_t, LaunchConfigRecord> configs_;
  std::unordered_map<std::uint32_t, std::vector<std::string>> sets_;
  std::unordered_map<std::uint32_t, std::unordered_map<std::string, Mean>> metrics_;  // by kernel name
  bool any_exact_ = false;
};

}  // namespace rangefinder
