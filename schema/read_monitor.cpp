// SPDX-License-Identifier: Apache-2.0
//
// `monitor` lines. Mirrors write_monitor.cpp.
#include "schema/read_records.h"

namespace rangefinder {

void read_record(const LineKeys& keys, MonitorRecord& record) {
  keys.need_time("start", record.start_ns);
  keys.need_time("end", record.end_ns);
  keys.need("window", record.window_ns);
  keys.take("path", record.path);
  keys.take("launches", record.launches);
  keys.take("ranges", record.ranges);
  keys.take("range_ns", record.range_ns);
  keys.take("window_launches", record.window_launches);
  keys.take("kernels", record.kernels);
  keys.take("kernel_ns", record.kernel_ns);
  keys.take("copies", record.copies);
  keys.take("copy_ns", record.copy_ns);
}

}  // namespace rangefinder
