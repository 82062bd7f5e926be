// SPDX-License-Identifier: Apache-2.0
//
// Counts work by path during one period of monitor mode, and makes the period's records.
//
// Drain thread only. Throws bad_alloc.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "schema/record.h"

namespace rangefinder {

class MonitorCounts {
 public:
  void add_launch(std::uint32_t path, bool in_window) {
    MonitorRecord& record = of(path);
    ++record.launches;
    if (in_window) ++record.window_launches;
  }
  void add_range(std::uint32_t path, std::uint64_t duration_ns) {
    MonitorRecord& record = of(path);
    ++record.ranges;
    record.range_ns += duration_ns;
  }
  void add(const KernelRecord& kernel) { add_kernel(kernel.work); }
  void add(const GraphRecord& graph) { add_kernel(graph.work); }
  void add(const MemcpyRecord& copy) { add_copy(copy.work); }
  void add(const MemsetRecord& memset) { add_copy(memset.work); }

  /// The period's records, sorted by path; path 0 always has one. Resets all counts. Times are relative.
  [[nodiscard]] std::vector<MonitorRecord> end(TimeNs start_ns, TimeNs end_ns, std::uint64_t window_ns);

 private:
  MonitorRecord& of(std::uint32_t path) { return by_path_[path]; }
  void add_kernel(const GpuWork& work);
  void add_copy(const GpuWork& work);

  std::unordered_map<std::uint32_t, MonitorRecord> by_path_;
};

}  // namespace rangefinder
