// SPDX-License-Identifier: Apache-2.0
//
// Traces as CSV: a folder with one file per table.
#include <string>
#include <unordered_map>

#include "profiler/attribution/path_totals.h"
#include "schema/key_names.h"
#include "tools/analysis/read/path_names.h"
#include "tools/export/csv_rows.h"
#include "tools/export/csv_tables.h"
#include "tools/export/export_format.h"

namespace rangefinder {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

void add_trace_row(CsvTables& tables, const TraceOutline& trace, std::size_t number) {
  const Header& header = trace.header;
  CsvTable& row = tables[CsvTableId::traces];
  row.number(number).text(header.host).number(header.pid).number(header.parent_pid).text(header.rank);
  row.text(header.executable).text(joined(header.command)).number(header.base_unix_ns).number(trace.last_ns);
  row.text(header.tool_version).nonzero(header.driver_version).text(header.driver_release);
  row.nonzero(header.runtime_version).nonzero(header.cupti_version).text(header.counters);
  row.text(header.counters_reason).text(trace.end ? trace.end->reason : "");
  row.end_row();
}

void add_gpu_rows(CsvTables& tables, const TraceOutline& trace, std::size_t number) {
  for (const GpuRecord& gpu : trace.gpus) {
    CsvTable& row = tables[CsvTableId::gpus];
    row.number(number).number(gpu.id).text(gpu.name).text(gpu.uuid);
    row.text(std::to_string(gpu.compute_major) + "." + std::to_string(gpu.compute_minor));
    row.number(gpu.sm_count).number(gpu.memory_bytes).number(gpu.l2_bytes).nonzero(gpu.peak_dram_bytes_per_s);
    row.nonzero(gpu.sm_clock_khz).nonzero(gpu.memory_clock_khz).number(gpu.mig).end_row();
  }
}

void add_stream_rows(CsvTables& tables, const TraceOutline& trace, std::size_t number) {
  for (const auto& [key, stream] : trace.streams) {
    const auto context = trace.contexts.find(stream.context);
    const bool known = context != trace.contexts.end();
    CsvTable& row = tables[CsvTableId::streams];
    row.number(number).number(stream.context).number(stream.id);
    if (known) {
      row.number(context->second.gpu);
    } else {
      row.empty();
    }
    row.number(stream.priority).number(stream.non_blocking);
    row.number(known && context->second.null_stream == stream.id).end_row();
  }
}

void add_name_rows(CsvTables& tables, const TraceOutline& trace, std::size_t number) {
  for (const auto& [thread, name] : trace.threads) {
    tables[CsvTableId::threads].number(number).number(thread).text(name).end_row();
  }
  for (const auto& [id, path] : trace.paths) {
    CsvTable& row = tables[CsvTableId::modules];
    row.number(number).number(id).nonzero(path.parent).number(path_depth(trace.paths, id)).text(path.name);
    row.text(trace.domain_name(path.domain)).text(trace.path_text(id)).end_row();
  }
  for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
    if (trace.loss[i] == 0) continue;
    tables[CsvTableId::loss].number(number).text(kLossCauses[i].name).number(trace.loss[i]);
    tables[CsvTableId::loss].text(kLossCauses[i].meaning).end_row();
  }
}

}  // namespace

ExportResult export_csv(const ExportRequest& request) {
  ExportResult result;
  OutputFolder folder(request.out);
  CsvTables tables(folder.path(), request.overwrite);
  for (std::size_t number = 0; number < request.traces.size(); ++number) {
    const TraceOutline trace = read_outline(request.traces[number]);
    note_trace(trace, result);
    add_trace_row(tables, trace, number);
    add_gpu_rows(tables, trace, number);
    add_stream_rows(tables, trace, number);
    add_name_rows(tables, trace, number);
    write_csv_rows(trace, number, tables);
  }
  result.files = tables.commit();
  folder.commit();
  return result;
}

}  // namespace rangefinder
