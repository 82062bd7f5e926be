// SPDX-License-Identifier: Apache-2.0
//
// Writes records as lines of JSON (README.md lists every key).
//
// Appends one whole line, newline included, to `out`. Numbers are written with
// std::to_chars, texts escaped and made valid UTF-8; only `out` allocates. The same record
// always gives the same line: golden tests compare bytes.
#pragma once

#include <string>

#include "schema/record.h"

namespace rangefinder {

void write_line(std::string& out, const Header& record);
void write_line(std::string& out, const GpuRecord& record);
void write_line(std::string& out, const ContextRecord& record);
void write_line(std::string& out, const StreamRecord& record);
void write_line(std::string& out, const ThreadRecord& record);
void write_line(std::string& out, const DomainRecord& record);
void write_line(std::string& out, const CategoryRecord& record);
void write_line(std::string& out, const NameRecord& record);
void write_line(std::string& out, const PathRecord& record);
void write_line(std::string& out, const KernelNameRecord& record);
void write_line(std::string& out, const LaunchConfigRecord& record);
void write_line(std::string& out, const KernelRecord& record);
void write_line(std::string& out, const MemcpyRecord& record);
void write_line(std::string& out, const MemsetRecord& record);
void write_line(std::string& out, const GraphRecord& record);
void write_line(std::string& out, const LaunchRecord& record);
void write_line(std::string& out, const ExactRecord& record);
void write_line(std::string& out, const SamplesRecord& record);
void write_line(std::string& out, const SamplingRecord& record);
void write_line(std::string& out, const MonitorRecord& record);
void write_line(std::string& out, const SyncRecord& record);
void write_line(std::string& out, const AllocRecord& record);
void write_line(std::string& out, const EventRecord& record);
void write_line(std::string& out, const CaptureRecord& record);
void write_line(std::string& out, const OverheadRecord& record);
void write_line(std::string& out, const RangeRecord& record);
void write_line(std::string& out, const MarkRecord& record);
void write_line(std::string& out, const PayloadSchemaRecord& record);
void write_line(std::string& out, const MetricSetRecord& record);
void write_line(std::string& out, const ClockRecord& record);
void write_line(std::string& out, const FlushRecord& record);
void write_line(std::string& out, const EndRecord& record);

}  // namespace rangefinder
