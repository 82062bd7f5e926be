// SPDX-License-Identifier: Apache-2.0
//
// One function for each record: reads its members from the keys. Mirrors write_line.h, in
// read_events.cpp (write_line.cpp) and read_tables.cpp (write_tables.cpp). All throw LineError.
#pragma once

#include "schema/line_keys.h"
#include "schema/record.h"

namespace rangefinder {

/// The keys that all lines of host threads have.
void read_host_work(const LineKeys& keys, HostWork& host);

void read_record(const LineKeys& keys, Header& record);
void read_record(const LineKeys& keys, GpuRecord& record);
void read_record(const LineKeys& keys, ContextRecord& record);
void read_record(const LineKeys& keys, StreamRecord& record);
void read_record(const LineKeys& keys, ThreadRecord& record);
void read_record(const LineKeys& keys, DomainRecord& record);
void read_record(const LineKeys& keys, CategoryRecord& record);
void read_record(const LineKeys& keys, NameRecord& record);
void read_record(const LineKeys& keys, PathRecord& record);
void read_record(const LineKeys& keys, KernelNameRecord& record);
void read_record(const LineKeys& keys, LaunchConfigRecord& record);
void read_record(const LineKeys& keys, KernelRecord& record);
void read_record(const LineKeys& keys, MemcpyRecord& record);
void read_record(const LineKeys& keys, MemsetRecord& record);
void read_record(const LineKeys& keys, GraphRecord& record);
void read_record(const LineKeys& keys, LaunchRecord& record);
void read_record(const LineKeys& keys, ExactRecord& record);
void read_record(const LineKeys& keys, SamplesRecord& record);
void read_record(const LineKeys& keys, SamplingRecord& record);
void read_record(const LineKeys& keys, MonitorRecord& record);
void read_record(const LineKeys& keys, SyncRecord& record);
/// The caller sets `is_free` from the kind of the line.
void read_record(const LineKeys& keys, AllocRecord& record);
/// The caller sets `wait` from the kind of the line.
void read_record(const LineKeys& keys, EventRecord& record);
void read_record(const LineKeys& keys, CaptureRecord& record);
void read_record(const LineKeys& keys, OverheadRecord& record);
void read_record(const LineKeys& keys, RangeRecord& record);
void read_record(const LineKeys& keys, MarkRecord& record);
/// The caller sets `definition`: only the line's text has its original form.
void read_record(const LineKeys& keys, PayloadSchemaRecord& record);
void read_record(const LineKeys& keys, MetricSetRecord& record);
void read_record(const LineKeys& keys, ClockRecord& record);
void read_record(const LineKeys& keys, FlushRecord& record);
void read_record(const LineKeys& keys, EndRecord& record);

}  // namespace rangefinder
