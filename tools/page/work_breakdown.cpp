// SPDX-License-Identifier: Apache-2.0
#include "tools/page/work_breakdown.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rangefinder {

void BreakdownSum::add(const GpuWork& work, std::uint64_t work_bytes) {
  ++count;
  bytes += work_bytes;
  if (work.start_ns == kNoTime || work.end_ns < work.start_ns) return;
  const auto ns = static_cast<std::uint64_t>(work.end_ns - work.start_ns);
  min_ns = timed == 0 ? ns : std::min(min_ns, ns);
  max_ns = std::max(max_ns, ns);
  total_ns += ns;
  ++timed;
}

int duration_bucket(std::uint64_t ns) noexcept {
  return ns < 2 ? 0 : static_cast<int>(std::floor(4 * std::log2(static_cast<double>(ns))));
}

void WorkBreakdown::add(const KernelRecord& kernel) {
  by_path[{kernel.name, kernel.work.path}].add(kernel.work, 0);
  by_config[{kernel.name, kernel.config}].add(kernel.work, 0);
  if (kernel.work.start_ns == kNoTime || kernel.work.end_ns < kernel.work.start_ns) return;
  ++durations[kernel.name]
             [duration_bucket(static_cast<std::uint64_t>(kernel.work.end_ns - kernel.work.start_ns))];
}

void WorkBreakdown::add(const MemcpyRecord& copy) {
  const std::uint64_t each = copy.count > 1 ? copy.bytes / copy.count : copy.bytes;
  const auto size = static_cast<std::uint32_t>(std::bit_width(each));
  copies_by_path[{copy.kind, copy.source, copy.destination, copy.work.path}].add(copy.work, copy.bytes);
  copies_by_size[{copy.kind, copy.source, copy.destination, size}].add(copy.work, copy.bytes);
}

}  // namespace rangefinder
