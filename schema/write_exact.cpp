// SPDX-License-Identifier: Apache-2.0
//
// `exact` lines in three forms: a launch with its own values, a launch that shares a
// counter range, and the counter range itself.
#include <cmath>

#include "schema/event_line.h"
#include "schema/key_names.h"
#include "schema/write_line.h"

namespace rangefinder {
namespace {

// A metric without a value (a ratio with denominator 0) is null: JSON has no NaN.
void add_values(EventLine& line, const std::vector<double>& values) {
  std::string& out = line.open("values");
  char separator = '[';
  for (const double value : values) {
    out += separator;
    separator = ',';
    if (std::isfinite(value)) {
      append_json_real(out, value);
    } else {
      out += "null";
    }
  }
  out += values.empty() ? "[]" : "]";
}

void add_measurement(EventLine& line, const ExactRecord& record) {
  if (!record.measured) {
    line.text("unmeasured", record.reason);
    return;
  }
  if (has_gpu_time(record)) line.number("gpu_ns", record.gpu_ns);
  if (record.has_bytes) {
    line.number("dram_read_bytes", record.dram_read_bytes);
    line.number("dram_write_bytes", record.dram_write_bytes);
    line.number("l2_bytes", record.l2_bytes);
  }
  if (record.metric_set == 0) return;
  line.number("set", record.metric_set);
  add_values(line, record.values);
}

void add_counter_range(EventLine& line, const ExactRecord& record) {
  line.host_work(record.launch.host);
  line.nonzero("ctx", record.launch.context);
  line.text("kind", kExactKindNames[kExactRangeKind]);
  line.number("gpu", record.gpu);
  line.number("counter_range", record.counter_range);
  line.number("launches", record.launches);
  line.number("kernels", record.kernels);
  if (!record.exclusive) line.open("exclusive") += "false";
}

void add_launch(EventLine& line, const ExactRecord& record) {
  line.launch(record.launch);
  line.text("kind", to_text(record.kind));
  line.number("gpu", record.gpu);
  line.nonzero("name", record.name);
  line.dim3("grid", record.grid);
  line.dim3("block", record.block);
  line.nonzero("bytes", record.bytes);
  line.nonzero("shared_range", record.counter_range);
}

}  // namespace

void write_line(std::string& out, const ExactRecord& record) {
  EventLine line(out, "exact");
  if (record.is_counter_range) {
    add_counter_range(line, record);
  } else {
    add_launch(line, record);
  }
  if (!shares_counter_range(record)) add_measurement(line, record);
  line.end();
}

}  // namespace rangefinder
