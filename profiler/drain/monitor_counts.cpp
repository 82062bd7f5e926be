// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/monitor_counts.h"

#include <algorithm>

#include "profiler/base/duration.h"

namespace rangefinder {
void MonitorCounts::add_kernel(const GpuWork& work) {
  MonitorRecord& record = of(work.path);
  ++record.kernels;
  record.kernel_ns += duration_ns(work.start_ns, work.end_ns);
}

void MonitorCounts::add_copy(const GpuWork& work) {
  MonitorRecord& record = of(work.path);
  ++record.copies;
  record.copy_ns += duration_ns(work.start_ns, work.end_ns);
}

std::vector<MonitorRecord> MonitorCounts::end(TimeNs start_ns, TimeNs end_ns, std::uint64_t window_ns) {
  of(0);  // a period without work has a line too
  std::vector<MonitorRecord> records;
  records.reserve(by_path_.size());
  for (auto& [path, record] : by_path_) {
    record.path = path;
    record.start_ns = start_ns;
    record.end_ns = end_ns;
    record.window_ns = window_ns;
    records.push_back(record);
  }
  std::sort(records.begin(), records.end(),
            [](const MonitorRecord& a, const MonitorRecord& b) { return a.path < b.path; });
  by_path_.clear();
  return records;
}

}  // namespace rangefinder
