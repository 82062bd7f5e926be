// SPDX-License-Identifier: Apache-2.0
//
// Maps ids of a trace to indices in the page's arrays of modules and kernels.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tools/analysis/model/trace_totals.h"

namespace rangefinder {

class PageIndices {
 public:
  explicit PageIndices(const TraceTotals& trace) : trace_(trace) {}

  void add_module(std::uint32_t path) { modules_.emplace(path, static_cast<std::int64_t>(modules_.size())); }
  void add_kernel(std::uint32_t name) { kernels_.emplace(name, static_cast<std::int64_t>(kernels_.size())); }

  /// Index of the path, or of its nearest ancestor in the page; -1: outside of any range.
  [[nodiscard]] std::int64_t module(std::uint32_t path) const {
    for (; path != 0; path = trace_.parent_of(path)) {
      if (const auto at = modules_.find(path); at != modules_.end()) return at->second;
    }
    return -1;
  }
  [[nodiscard]] bool has_module(std::uint32_t path) const { return modules_.count(path) != 0; }
  /// -1: the page omits the kernel.
  [[nodiscard]] std::int64_t kernel(std::uint32_t name) const {
    const auto at = kernels_.find(name);
    return at == kernels_.end() ? -1 : at->second;
  }

 private:
  const TraceTotals& trace_;
  std::unordered_map<std::uint32_t, std::int64_t> modules_, kernels_;
};

}  // namespace rangefinder
