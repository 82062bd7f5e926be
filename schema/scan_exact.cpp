// SPDX-License-Identifier: Apache-2.0
//
// The values of `exact` lines. Mirrors write_exact.cpp.
#include <limits>

#include "schema/line_scanner.h"

namespace rangefinder {
namespace {

/// null becomes NaN.
void scan_values(LineScanner& keys, std::vector<double>& values) {
  keys.expect(keys.take('['));
  if (keys.take(']')) return;
  do {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (keys.next() != 'n') {
      keys.number(value);
    } else {
      keys.expect(keys.take("null"));
    }
    values.push_back(value);
  } while (keys.take(','));
  keys.expect(keys.take(']'));
}

}  // namespace

void measurement_fields(LineScanner& keys, ExactRecord& record) {
  if (shares_counter_range(record)) return;
  record.measured = !keys.present(true, "unmeasured"_key);
  if (!record.measured) return keys.required("unmeasured"_key, record.reason);
  if (has_gpu_time(record)) keys.required("gpu_ns"_key, record.gpu_ns);
  record.has_bytes = keys.present(true, "dram_read_bytes"_key);
  if (record.has_bytes) {
    keys.required("dram_read_bytes"_key, record.dram_read_bytes);
    keys.required("dram_write_bytes"_key, record.dram_write_bytes);
    keys.required("l2_bytes"_key, record.l2_bytes);
  }
  keys.optional("set"_key, record.metric_set);
  if (record.metric_set == 0) return keys.expect(record.has_bytes);
  keys.expect(keys.take_key("values"_key));
  scan_values(keys, record.values);
}

}  // namespace rangefinder
