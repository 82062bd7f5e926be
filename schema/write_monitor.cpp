// SPDX-License-Identifier: Apache-2.0
//
// `monitor` lines. Values that are 0 are omitted: most paths have only some of the keys.
#include "schema/event_line.h"
#include "schema/write_line.h"

namespace rangefinder {

void write_line(std::string& out, const MonitorRecord& record) {
  EventLine line(out, "monitor");
  line.times(record.start_ns, record.end_ns);
  line.number("window", record.window_ns);
  line.nonzero("path", record.path);
  line.nonzero("launches", record.launches);
  line.nonzero("ranges", record.ranges);
  line.nonzero("range_ns", record.range_ns);
  line.nonzero("window_launches", record.window_launches);
  line.nonzero("kernels", record.kernels);
  line.nonzero("kernel_ns", record.kernel_ns);
  line.nonzero("copies", record.copies);
  line.nonzero("copy_ns", record.copy_ns);
  line.end();
}

}  // namespace rangefinder
