// SPDX-License-Identifier: Apache-2.0
//
// The values of `exact` lines.
#include <cmath>

#include "schema/line_writer.h"

namespace rangefinder {
namespace {

// A metric without a value (a ratio with denominator 0) is null: JSON has no NaN.
void add_values(LineWriter& line, const std::vector<double>& values) {
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

}  // namespace

void measurement_fields(LineWriter& line, const ExactRecord& record) {
  if (shares_counter_range(record)) return;
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

}  // namespace rangefinder
