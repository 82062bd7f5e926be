// SPDX-License-Identifier: Apache-2.0
//
// One function a record: its keys to its members. Mirror of write_line.h over the
// two files read_events.cpp (write_line.cpp) and read_tables.cpp (write_tables.cpp).
// All throw LineError.
#pragma once

#include "schema/line_keys.h"
#include "schema/record.h"

namespace rangefinder {

/// The keys that all work of host threads has.
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
/// `is_free` is the caller's: it is in the line's kind.
void read_record(const LineKeys& keys, AllocRecord& record);
/// `wait` is the caller's: it is in the line's kind.
void read_record(const LineKeys& keys, EventRecord& record);
void read_record(const LineKeys& keys, CaptureRecord& record);
void read_record(const LineKeys& keys, OverheadRecord& record);
void read_record(const LineKeys& keys, RangeRecord& record);
void read_record(const LineKeys& keys, MarkRecord& record);
/// `definition` is the caller's: only the text of the line has it as it was written.
void read_record(const LineKeys& keys, PayloadSchemaRecord& record);
void read_record(const LineKeys& keys, MetricSetRecord& record);
void read_record(const LineKeys& keys, ClockRecord& record);
void read_record(const LineKeys& keys, FlushRecord& record);
void read_record(const LineKeys& keys, EndRecord& record);

}  // namespace rangefinder
