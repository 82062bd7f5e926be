// SPDX-License-Identifier: Apache-2.0
//
// `exact` lines. Mirrors write_exact.cpp.
#include "schema/key_names.h"
#include "schema/read_records.h"

namespace rangefinder {
namespace {

void read_counter_range(const LineKeys& keys, ExactRecord& record) {
  read_host_work(keys, record.launch.host);
  keys.take("ctx", record.launch.context);
  keys.need("gpu", record.gpu);
  keys.need("counter_range", record.counter_range);
  keys.need("launches", record.launches);
  keys.need("kernels", record.kernels);
  keys.take("exclusive", record.exclusive);
}

void read_launch(const LineKeys& keys, ExactRecord& record) {
  read_record(keys, record.launch);
  keys.need("gpu", record.gpu);
  keys.take("name", record.name);
  keys.take("grid", record.grid);
  keys.take("block", record.block);
  keys.take("bytes", record.bytes);
  keys.take("shared_range", record.counter_range);
}

void read_values(const LineKeys& keys, ExactRecord& record) {
  if (has_gpu_time(record)) keys.need("gpu_ns", record.gpu_ns);
  keys.take("set", record.metric_set);
  if (record.metric_set != 0) keys.need("values", record.values);
  record.has_bytes = record.metric_set == 0 || keys.has("dram_read_bytes");
  if (!record.has_bytes) return;
  keys.need("dram_read_bytes", record.dram_read_bytes);
  keys.need("dram_write_bytes", record.dram_write_bytes);
  keys.need("l2_bytes", record.l2_bytes);
}

}  // namespace

void read_record(const LineKeys& keys, ExactRecord& record) {
  std::size_t kind = 0;
  keys.need("kind", kind, kExactKindNames);
  record.is_counter_range = kind == kExactRangeKind;
  if (record.is_counter_range) {
    read_counter_range(keys, record);
  } else {
    record.kind = static_cast<WorkKind>(kind);
    read_launch(keys, record);
  }
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
    keys.need("unmeasured", record.reason);
  }
}

}  // namespace rangefinder
