// SPDX-License-Identifier: Apache-2.0
//
// The values of `exact` lines. Mirrors write_exact.cpp.
#include "schema/line_keys.h"

namespace rangefinder {
namespace {

void read_values(const LineKeys& keys, ExactRecord& record) {
  if (has_gpu_time(record)) keys.required("gpu_ns", record.gpu_ns);
  keys.optional("set", record.metric_set);
  if (record.metric_set != 0) keys.required("values", record.values);
  record.has_bytes = record.metric_set == 0 || keys.has("dram_read_bytes");
  if (!record.has_bytes) return;
  keys.required("dram_read_bytes", record.dram_read_bytes);
  keys.required("dram_write_bytes", record.dram_write_bytes);
  keys.required("l2_bytes", record.l2_bytes);
}

}  // namespace

void measurement_fields(const LineKeys& keys, ExactRecord& record) {
  const bool has_reason = keys.has("unmeasured"), has_value = keys.has("gpu_ns") || keys.has("l2_bytes");
  if (shares_counter_range(record)) {
    if (has_reason || has_value) keys.fail({"keys \"shared_range\" and those of values exclude each other"});
    return;
  }
  if (has_reason && keys.has("gpu_ns")) {
    keys.fail({"keys \"unmeasured\" and \"gpu_ns\" exclude each other"});
  }
  record.measured = !has_reason;
  if (record.measured) {
    read_values(keys, record);
  } else {
    keys.required("unmeasured", record.reason);
  }
}

}  // namespace rangefinder
