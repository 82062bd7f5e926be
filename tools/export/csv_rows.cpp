// SPDX-License-Identifier: Apache-2.0
#include "tools/export/csv_rows.h"

#include <algorithm>

#include "schema/key_names.h"
#include "tools/export/handle_text.h"
#include "tools/export/nvtx_payload.h"
#include "tools/export/time_span.h"

namespace rangefinder {

void CsvRows::line(const Line& line, const LinePlace&) {
  std::visit([this](const auto& record) { add(record); }, line);
}

const std::string& CsvRows::module(std::uint32_t path) {
  const auto [it, is_new] = modules_.try_emplace(path);
  if (is_new) it->second = csv_cell(trace_.path_text(path));
  return it->second;
}

const std::string& CsvRows::kernel(std::uint32_t name) {
  const auto [it, is_new] = kernels_.try_emplace(name);
  if (is_new) {
    const KernelNameRecord& known = trace_.kernel_name(name);
    it->second = csv_cell(known.demangled) + ',' + csv_cell(known.from_library);
  }
  return it->second;
}

const std::string& CsvRows::launch_config(std::uint32_t config) {
  const auto [it, is_new] = configs_.try_emplace(config);
  if (!is_new) return it->second;
  const auto known = trace_.configs.find(config);
  if (known == trace_.configs.end()) return it->second = ",,,,,,,,,";
  const LaunchConfigRecord& c = known->second;
  for (const std::uint32_t value :
       {c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.registers, c.static_shared_bytes,
        c.dynamic_shared_bytes, c.local_bytes_per_thread}) {
    it->second += (it->second.empty() ? "" : ",") + std::to_string(value);
  }
  return it->second;
}

CsvTable& CsvRows::times(CsvTable& row, TimeNs start_ns, TimeNs end_ns) {
  row.time(start_ns).time(end_ns);
  if (start_ns == kNoTime || end_ns == kNoTime) return row.empty();
  return row.number(span_ns(start_ns, end_ns));
}

CsvTable& CsvRows::gpu_work(CsvTableId table, const GpuWork& work) {
  CsvTable& out = times(row(table), work.start_ns, work.end_ns);
  out.number(work.gpu).number(work.context).number(work.stream).number(work.correlation);
  out.field(module(work.path)).nonzero(work.range).nonzero(work.graph).nonzero(work.graph_node);
  return out.number(work.captured);
}

CsvTable& CsvRows::host_work(CsvTableId table, const HostWork& host) {
  CsvTable& out = times(row(table), host.start_ns, host.end_ns);
  return out.number(host.thread).field(module(host.path)).nonzero(host.range);
}

void CsvRows::add(const KernelRecord& kernel_record) {
  CsvTable& out = gpu_work(CsvTableId::kernels, kernel_record.work);
  out.field(kernel(kernel_record.name)).field(launch_config(kernel_record.config)).end_row();
}

void CsvRows::add(const MemcpyRecord& copy) {
  CsvTable& out = gpu_work(CsvTableId::memcpys, copy.work);
  out.field(to_text(copy.kind)).field(to_text(copy.source)).field(to_text(copy.destination));
  out.number(copy.bytes).number(copy.async).number(copy.count);
  if (copy.kind == CopyKind::PtoP) {
    out.number(copy.source_gpu).number(copy.destination_gpu);
  } else {
    out.empty().empty();
  }
  out.end_row();
}

void CsvRows::add(const MemsetRecord& memset) {
  CsvTable& out = gpu_work(CsvTableId::memsets, memset.work);
  out.field(to_text(memset.memory)).number(memset.bytes).number(memset.value).end_row();
}

void CsvRows::add(const GraphRecord& graph) {
  gpu_work(CsvTableId::graphs, graph.work).end_row();
}

void CsvRows::launch_row(const LaunchRecord& launch, bool exact) {
  CsvTable& out = host_work(CsvTableId::launches, launch.host);
  out.text(launch.api).number(launch.correlation).nonzero(launch.context).number(launch.result);
  out.number(exact).end_row();
}

void CsvRows::add(const LaunchRecord& launch) {
  launch_row(launch, false);
}

void CsvRows::add(const ExactRecord& exact) {
  if (!exact.is_counter_range) launch_row(exact.launch, true);
  const HostWork& host = exact.launch.host;
  CsvTable& out = row(CsvTableId::exact).time(host.start_ns).time(host.end_ns).number(host.thread);
  out.field(module(host.path)).nonzero(host.range);
  out.field(exact.is_counter_range ? "range" : to_text(exact.kind));
  out.nonzero(exact.launch.correlation).nonzero(exact.counter_range).number(exact.gpu);
  out.text(exact.name == 0 ? std::string() : trace_.kernel_name(exact.name).demangled);
  if (exact.is_counter_range) {
    out.number(exact.launches).number(exact.kernels).number(exact.exclusive);
  } else {
    out.empty().empty().empty();
  }
  if (exact.measured && has_gpu_time(exact)) {
    out.number(exact.gpu_ns);
  } else {
    out.empty();
  }
  if (exact.measured && exact.has_bytes) {
    out.number(exact.dram_read_bytes).number(exact.dram_write_bytes).number(exact.l2_bytes);
  } else {
    out.empty().empty().empty();
  }
  const auto set = trace_.metric_sets.find(exact.metric_set);
  out.text(set == trace_.metric_sets.end() ? std::string() : set->second.name).text(exact.reason).end_row();
  metric_rows(exact);
}

void CsvRows::metric_rows(const ExactRecord& exact) {
  const auto set = trace_.metric_sets.find(exact.metric_set);
  if (!exact.measured || set == trace_.metric_sets.end()) return;
  for (std::size_t i = 0; i < exact.values.size() && i < set->second.metrics.size(); ++i) {
    CsvTable& out = row(CsvTableId::metrics).nonzero(exact.launch.correlation).nonzero(exact.counter_range);
    out.text(set->second.name).text(set->second.metrics[i]).real(exact.values[i]).end_row();
  }
}

void CsvRows::add(const SyncRecord& sync) {
  CsvTable& out = host_work(CsvTableId::syncs, sync.host);
  out.text(sync.api).nonzero(sync.context).nonzero(sync.stream).field(handle_text(sync.event)).end_row();
}

void CsvRows::add(const AllocRecord& alloc) {
  CsvTable& out = host_work(CsvTableId::allocations, alloc.host);
  out.text(alloc.api).field(alloc.is_free ? "free" : "alloc").field(to_text(alloc.kind));
  out.field(handle_text(alloc.address));
  if (alloc.is_free) {
    out.empty();
  } else {
    out.number(alloc.bytes);
  }
  out.nonzero(alloc.context).nonzero(alloc.stream).field(handle_text(alloc.pool)).end_row();
}

void CsvRows::add(const EventRecord& event) {
  CsvTable& out = host_work(CsvTableId::events, event.host);
  out.field(event.wait ? "wait" : "record").field(handle_text(event.event));
  out.number(event.stream).nonzero(event.context).end_row();
}

void CsvRows::add(const CaptureRecord& capture) {
  CsvTable& out = host_work(CsvTableId::captures, capture.host);
  out.field(to_text(capture.step)).number(capture.stream).nonzero(capture.context);
  out.field(handle_text(capture.graph)).number(capture.result).end_row();
}

void CsvRows::add(const OverheadRecord& overhead) {
  CsvTable& out = times(row(CsvTableId::overhead), overhead.start_ns, overhead.end_ns);
  out.nonzero(overhead.thread).text(overhead.what).nonzero(overhead.correlation).end_row();
}

void write_csv_rows(const TraceOutline& trace, std::size_t number, CsvTables& tables) {
  LineReader reader;
  CsvRows rows(trace, number, tables);
  (void)read_trace(trace.files, reader, rows);
}

void CsvRows::extras(CsvTable& row, const NvtxExtras& extras, std::uint32_t domain) {
  const auto category = trace_.categories.find({domain, extras.category});
  if (extras.category == 0) {
    row.empty();
  } else if (category == trace_.categories.end()) {
    row.number(extras.category);
  } else {
    row.text(category->second);
  }
  row.field(color_text(extras.color)).field(payload_text(extras)).field(to_text(extras.payload_type));
}

void CsvRows::add(const RangeRecord& range) {
  CsvTable& out = row(CsvTableId::ranges).number(range.id);
  times(out, range.start_ns, range.end_ns).field(range.name == 0 ? "push_pop" : "start_end");
  out.number(range.thread).nonzero(range.end_thread).text(trace_.domain_name(range.domain));
  out.text(range.name == 0 ? trace_.own_name(range.path) : trace_.text(range.name));
  out.field(module(range.path));
  extras(out, range.extras, range.domain);
  out.end_row();
}

void CsvRows::add(const MarkRecord& mark) {
  CsvTable& out = row(CsvTableId::marks).time(mark.at_ns).number(mark.thread);
  out.text(trace_.domain_name(mark.domain)).text(trace_.text(mark.name));
  out.field(module(mark.path)).nonzero(mark.range);
  extras(out, mark.extras, mark.domain);
  out.end_row();
}

void CsvRows::add(const SamplingRecord& sampling) {
  if (sampling.interval_ns == 0) return;
  auto& collected = collected_[sampling.gpu];
  for (std::size_t column = 0; column < kSampleColumns; ++column) {
    collected[column] = std::find(sampling.columns.begin(), sampling.columns.end(),
                                  kSampleColumnNames[column]) != sampling.columns.end();
  }
}

void CsvRows::add(const SamplesRecord& samples) {
  const auto& collected = collected_[samples.gpu];
  std::size_t place = 0;
  for (const SampleRun& run : samples.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++place) {
      CsvTable& out = row(CsvTableId::samples).number(samples.gpu);
      out.number(sample_start_ns(run, i));
      out.number(sample_start_ns(run, i + 1));
      for (std::size_t column = 0; column < kSampleColumns; ++column) {
        const std::uint64_t unit = is_byte_column(column) ? kSampleUnitBytes : 1;
        const auto& values = samples.columns[column];
        if (place < values.size()) {
          out.number(values[place] * unit);
        } else if (collected[column]) {
          out.number(0);  // an omitted column was 0 in every sample
        } else {
          out.empty();
        }
      }
      out.end_row();
    }
  }
}

}  // namespace rangefinder
