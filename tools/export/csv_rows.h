// SPDX-License-Identifier: Apache-2.0
//
// The lines of a trace as rows of CSV tables, one row per record.
//
//   read_trace ─▶ CsvRows::line ─▶ kernels.csv, launches.csv, …
//
// Records without times are rows too, with empty times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tools/export/csv_tables.h"
#include "tools/export/trace_outline.h"

namespace rangefinder {

class CsvRows final : public TraceVisitor {
 public:
  CsvRows(const TraceOutline& trace, std::size_t number, CsvTables& tables)
      : trace_(trace), number_(number), tables_(tables) {}

  void line(const Line& line, const LinePlace& place) override;
  void broken(std::string_view, const LinePlace&) override {}  // read_outline() has already reported it

 private:
  template <typename Other>
  void add(const Other&) {}
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(const GraphRecord& graph);
  void add(const LaunchRecord& launch);
  void add(const ExactRecord& exact);
  void add(const SyncRecord& sync);
  void add(const AllocRecord& alloc);
  void add(const EventRecord& event);
  void add(const CaptureRecord& capture);
  void add(const OverheadRecord& overhead);
  void add(const RangeRecord& range);
  void add(const MarkRecord& mark);
  void add(const SamplingRecord& sampling);
  void add(const SamplesRecord& samples);

  /// A new row, with the trace's number in its first column.
  CsvTable& row(CsvTableId table) { return tables_[table].number(number_); }
  CsvTable& times(CsvTable& row, TimeNs start_ns, TimeNs end_ns);
  CsvTable& gpu_work(CsvTableId table, const GpuWork& work);
  CsvTable& host_work(CsvTableId table, const HostWork& host);
  void launch_row(const LaunchRecord& launch, bool exact);
  void metric_rows(const ExactRecord& exact);
  void extras(CsvTable& row, const NvtxExtras& extras, std::uint32_t domain);
  /// Cached texts as CSV fields.
  [[nodiscard]] const std::string& module(std::uint32_t path);
  [[nodiscard]] const std::string& kernel(std::uint32_t name);
  [[nodiscard]] const std::string& launch_config(std::uint32_t config);

  const TraceOutline& trace_;
  const std::size_t number_;
  CsvTables& tables_;
  std::unordered_map<std::uint32_t, std::string> modules_, kernels_, configs_;
  std::map<std::uint32_t, std::array<bool, kSampleColumns>> collected_;  // by GPU
};

void write_csv_rows(const TraceOutline& trace, std::size_t number, CsvTables& tables);

}  // namespace rangefinder
