// SPDX-License-Identifier: Apache-2.0
//
// The lines of a trace as rows: the only place that knows which record has which values.
#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <map>
#include <unordered_map>

#include "schema/key_names.h"
#include "tools/analysis/model/path_names.h"
#include "tools/analysis/model/trace_reader.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/export/row_tables.h"
#include "tools/export/trace_outline.h"
#include "tools/export/value_text.h"

namespace rangefinder {
namespace {

template <typename T>
RowCell cell(const T& value) {
  if constexpr (std::convertible_to<const T&, std::string_view>) {
    return std::string_view(value);
  } else if constexpr (!std::integral<T> || std::same_as<T, bool>) {
    return value;
  } else if constexpr (std::signed_integral<T>) {
    return std::int64_t{value};
  } else {
    return std::uint64_t{value};
  }
}

template <typename T>
RowCell cell_if(bool has_value, const T& value) {
  return has_value ? cell(value) : RowCell();
}

template <typename T>
RowCell nonzero(T value) {
  return cell_if(value != 0, value);
}

RowCell time_cell(TimeNs time) {
  return cell_if(time != kNoTime, time);
}

RowCell thread_cell(std::uint32_t thread) {
  return cell_if(thread != 0, ThreadCell{thread});
}

/// "at::native::vectorized_elementwise_kernel<…>" without its namespaces and "<…>".
std::string kernel_base_name(const std::string& demangled) {
  constexpr std::string_view kArguments = "<…>";
  std::string out = short_kernel_name(demangled);
  for (std::size_t at = out.find(kArguments); at != std::string::npos; at = out.find(kArguments, at)) {
    out.erase(at, kArguments.size());
  }
  const std::size_t scope = out.rfind("::");
  return scope == std::string::npos || scope + 2 == out.size() ? out : out.substr(scope + 2);
}

/// see(id, record), in order of ids.
template <typename Record, typename See>
void each_by_id(const std::unordered_map<std::uint32_t, Record>& records, See&& see) {
  std::map<std::uint32_t, const Record*> ordered;
  for (const auto& [id, record] : records) ordered.emplace(id, &record);
  for (const auto& [id, record] : ordered) see(id, *record);
}

struct TimeSpan {
  TimeNs start_ns, end_ns;
};

struct ExtrasIn {
  const NvtxExtras& extras;
  std::uint32_t domain;
};

class RecordRows {
 public:
  RecordRows(const TraceOutline& trace, RowSink& sink) : trace_(trace), sink_(sink) {}

  void line(const Line& line) {
    std::visit([this](const auto& record) { add(record); }, line);
  }

  void add_outline() {
    add_process();
    add_gpus();
    add_paths();
    add_nvtx_names();
    add_stacks();
  }

 private:
  void add_process();
  void add_gpus();
  void add_paths();
  void add_nvtx_names();
  void add_stacks();

  template <typename Other>
  void add(const Other&) {}
  void add(const KernelRecord& kernel);
  void add(const MemcpyRecord& copy);
  void add(const MemsetRecord& memset);
  void add(const GraphRecord& graph) { write(RowTable::graphs, graph.work); }
  void add(const LaunchRecord& launch) { add_launch(launch, false); }
  void add(const ExactRecord& exact);
  void add(const SyncRecord& sync);
  void add(const AllocRecord& alloc);
  void add(const EventRecord& event);
  void add(const CaptureRecord& capture);
  void add(const OverheadRecord& overhead);
  void add(const HoldRecord& hold);
  void add(const GapRecord& gap);
  void add(const RangeRecord& range);
  void add(const MarkRecord& mark);
  void add(const SamplingRecord& sampling);
  void add(const SamplesRecord& samples);
  void add(const ConditionRecord& record);
  void add(const StackSampleRecord& record);
  void add_launch(const LaunchRecord& launch, bool exact);
  void add_call(const HostWork& host, std::string_view api, std::int32_t result);
  void add_metrics(const ExactRecord& exact, const MetricSetRecord& set);

  /// Writes a row. A value is a cell or a part of a record that several tables have.
  template <typename... Values>
  void write(RowTable table, const Values&... values) {
    push_all(values...);
    end_row(table);
  }
  template <typename... Values>
  void push_all(const Values&... values) {
    (push(values), ...);
  }
  template <typename T>
  void push(const T& value) {
    assert(count_ < cells_.size());
    cells_[count_++] = cell(value);
  }
  void push(const TimeSpan& span);
  void push(const GpuWork& work);
  void push(const HostWork& host);
  void push(const LaunchConfigRecord& config);
  void push(const ExtrasIn& in);
  void end_row(RowTable table) {
    assert(count_ <= row_tables()[static_cast<std::size_t>(table)].columns.size());
    sink_.row(table, std::span(cells_).first(count_));
    count_ = 0;
  }
  [[nodiscard]] NameCell module(std::uint32_t path);

  const TraceOutline& trace_;
  RowSink& sink_;
  std::array<RowCell, kMaxRowCells> cells_;
  std::size_t count_ = 0;
  std::unordered_map<std::uint32_t, std::string> modules_, base_names_;
  std::map<std::uint32_t, std::array<bool, kSampleColumns>> collected_;  // by GPU
};

void RecordRows::push(const TimeSpan& span) {
  push_all(time_cell(span.start_ns), time_cell(span.end_ns),
           cell_if(is_timed(span), span_ns(span.start_ns, span.end_ns)));
}

void RecordRows::push(const GpuWork& work) {
  push_all(TimeSpan{work.start_ns, work.end_ns}, work.gpu, work.context, work.stream, work.correlation,
           module(work.path), nonzero(work.path), nonzero(work.range), nonzero(work.graph),
           nonzero(work.graph_node), work.captured, ThreadCell{0});
}

void RecordRows::push(const HostWork& host) {
  push_all(TimeSpan{host.start_ns, host.end_ns}, ThreadCell{host.thread}, module(host.path),
           nonzero(host.path), nonzero(host.range));
}

void RecordRows::push(const LaunchConfigRecord& c) {
  push_all(c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.registers, c.static_shared_bytes,
           c.dynamic_shared_bytes, c.shared_bytes_executed, c.local_bytes_per_thread);
}

void RecordRows::push(const ExtrasIn& in) {
  const NvtxExtras& extras = in.extras;
  const auto category = trace_.categories.find({in.domain, extras.category});
  const bool named = extras.category != 0 && category != trace_.categories.end();
  push_all(named ? cell(category->second) : nonzero(extras.category), extras.category,
           ColorCell{extras.color});
  for (const PayloadType column : {PayloadType::none, PayloadType::u64, PayloadType::i64, PayloadType::f64,
                                   PayloadType::u32, PayloadType::i32, PayloadType::f32}) {
    push(PayloadCell{&extras, column});
  }
  push(to_text(extras.payload_type));
}

NameCell RecordRows::module(std::uint32_t path) {
  const auto [it, is_new] = modules_.try_emplace(path);
  if (is_new) it->second = trace_.path_text(path);
  return {it->second};
}

void RecordRows::add_process() {
  const Header& header = trace_.header;
  write(RowTable::traces, header.host, header.pid, header.parent_pid, header.rank, header.executable,
        words_text(header.command), header.base_unix_ns, trace_.last_ns, header.tool_version,
        nonzero(header.driver_version), header.driver_release, nonzero(header.runtime_version),
        nonzero(header.cupti_version), header.counters, header.counters_reason,
        trace_.end ? std::string_view(trace_.end->reason) : std::string_view());
  for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
    if (trace_.loss[i] == 0) continue;
    write(RowTable::loss, kLossCauses[i].name, trace_.loss[i], kLossCauses[i].meaning);
  }
  for (const auto& [thread, name] : trace_.threads)
    write(RowTable::threads, ThreadCell{thread}, NameCell{name}, 0);
}

void RecordRows::add_gpus() {
  for (const GpuRecord& gpu : trace_.gpus) {
    write(RowTable::gpus, gpu.id, gpu.name, gpu.uuid,
          std::to_string(gpu.compute_major) + "." + std::to_string(gpu.compute_minor), gpu.compute_major,
          gpu.compute_minor, gpu.sm_count, gpu.memory_bytes, gpu.l2_bytes, nonzero(gpu.peak_dram_bytes_per_s),
          gpu.peak_dram_bytes_per_s, nonzero(gpu.sm_clock_khz), gpu.sm_clock_khz * 1000,
          nonzero(gpu.memory_clock_khz), gpu.mig);
  }
  each_by_id(trace_.contexts, [this](std::uint32_t id, const ContextRecord& context) {
    write(RowTable::contexts, id, context.gpu, context.null_stream);
  });
  for (const auto& [key, stream] : trace_.streams) {
    const auto context = trace_.contexts.find(stream.context);
    const bool has_context = context != trace_.contexts.end();
    const bool is_default = has_context && context->second.null_stream == stream.id;
    // CUpti_ActivityStreamFlag: 1 default, 2 non-blocking, 3 the null stream.
    const int flag = is_default ? 3 : stream.non_blocking ? 2 : 1;
    write(RowTable::streams, stream.context, stream.id, has_context ? cell(context->second.gpu) : RowCell(),
          stream.priority, stream.non_blocking, is_default, flag);
  }
}

void RecordRows::add_paths() {
  each_by_id(trace_.paths, [this](std::uint32_t id, const PathRecord& path) {
    const SourceLines& source = trace_.source_of(id);
    write(RowTable::modules, id, nonzero(path.parent), nonzero(trace_.parent_of(id)),
          path_depth(trace_.paths, id), path.name, trace_.domain_name(path.domain), trace_.path_text(id),
          cell_if(!source.of_class.empty(), source.of_class),
          cell_if(!source.of_call.empty(), source.of_call));
  });
}

void RecordRows::add_nvtx_names() {
  const auto add_name = [this](int type, std::uint32_t domain, std::uint32_t category,
                               const std::string& name) {
    write(RowTable::nvtx_names, type, domain, category, name, NameCell{name}, ThreadCell{0});
  };
  each_by_id(trace_.domains, [&add_name](std::uint32_t id, const std::string& name) {
    add_name(kNsysNvtxDomain, id, 0, name);
  });
  for (const auto& [key, name] : trace_.categories) add_name(kNsysNvtxCategory, key.first, key.second, name);
}

void RecordRows::add_stacks() {
  each_by_id(trace_.host_stacks.frames(), [this](std::uint32_t id, const FrameRecord& frame) {
    write(RowTable::frames, id, frame.function, cell_if(!frame.file.empty(), frame.file),
          nonzero(frame.line));
  });
  each_by_id(trace_.host_stacks.stacks(), [this](std::uint32_t id, const StackRecord& stack) {
    write(RowTable::stacks, id, nonzero(stack.caller), stack.frame,
          trace_.host_stacks.frame(stack.frame).function);
  });
}

void RecordRows::add(const KernelRecord& kernel) {
  const KernelNameRecord& name = trace_.kernel_name(kernel.name);
  const auto [base_name, is_new] = base_names_.try_emplace(kernel.name);
  if (is_new) base_name->second = kernel_base_name(name.demangled);
  push_all(kernel.work, NameCell{name.demangled}, NameCell{base_name->second}, NameCell{name.mangled},
           NameCell{name.from_library});
  const auto config = trace_.configs.find(kernel.config);
  if (config != trace_.configs.end()) push(config->second);
  end_row(RowTable::kernels);
}

void RecordRows::add(const MemcpyRecord& copy) {
  const bool peer = copy.kind == CopyKind::PtoP;
  write(RowTable::memcpys, copy.work, copy.kind, copy.source, copy.destination, copy.bytes, copy.async,
        copy.count, cell_if(peer, copy.source_gpu), cell_if(peer, copy.destination_gpu));
}

void RecordRows::add(const MemsetRecord& memset) {
  write(RowTable::memsets, memset.work, memset.memory, memset.bytes, memset.value);
}

void RecordRows::add_launch(const LaunchRecord& launch, bool exact) {
  write(RowTable::launches, launch.host, NameCell{launch.api}, launch.correlation, nonzero(launch.context),
        launch.result, exact);
}

void RecordRows::add_call(const HostWork& host, std::string_view api, std::int32_t result) {
  write(RowTable::calls, host, NameCell{api}, result);
}

void RecordRows::add(const ExactRecord& exact) {
  const LaunchRecord& launch = exact.launch;
  const HostWork& host = launch.host;
  const bool range = exact.is_counter_range, bytes = exact.measured && exact.has_bytes;
  const auto set = trace_.metric_sets.find(exact.metric_set);
  const bool has_set = set != trace_.metric_sets.end();
  if (!range) add_launch(launch, true);
  push_all(time_cell(host.start_ns), time_cell(host.end_ns), ThreadCell{host.thread}, module(host.path),
           nonzero(host.path), nonzero(host.range), range ? std::string_view("range") : to_text(exact.kind),
           nonzero(launch.correlation), cell_if(!range, launch.correlation), nonzero(exact.counter_range),
           exact.gpu, cell_if(exact.name != 0, NameCell{trace_.kernel_name(exact.name).demangled}),
           cell_if(range, exact.launches), cell_if(range, exact.kernels), cell_if(range, exact.exclusive),
           cell_if(exact.measured && has_gpu_time(exact), exact.gpu_ns),
           cell_if(bytes, exact.dram_read_bytes), cell_if(bytes, exact.dram_write_bytes),
           cell_if(bytes, exact.l2_bytes), has_set ? cell(set->second.name) : RowCell(),
           cell_if(!exact.reason.empty(), exact.reason));
  end_row(RowTable::exact);
  if (exact.measured && has_set) add_metrics(exact, set->second);
}

void RecordRows::add_metrics(const ExactRecord& exact, const MetricSetRecord& set) {
  const std::uint32_t correlation = exact.launch.correlation;
  for (std::size_t i = 0; i < exact.values.size() && i < set.metrics.size(); ++i) {
    write(RowTable::metrics, nonzero(correlation), cell_if(!exact.is_counter_range, correlation),
          nonzero(exact.counter_range), set.name, NameCell{set.metrics[i]}, exact.values[i]);
  }
}

void RecordRows::add(const SyncRecord& sync) {
  add_call(sync.host, sync.api, 0);
  write(RowTable::syncs, sync.host, NameCell{sync.api}, nonzero(sync.context), nonzero(sync.stream),
        HandleCell{sync.event});
}

void RecordRows::add(const AllocRecord& alloc) {
  add_call(alloc.host, alloc.api, 0);
  write(RowTable::allocations, alloc.host, NameCell{alloc.api}, alloc.is_free ? "free" : "alloc",
        alloc.is_free, to_text(alloc.kind), HandleCell{alloc.address}, cell_if(!alloc.is_free, alloc.bytes),
        nonzero(alloc.context), nonzero(alloc.stream), HandleCell{alloc.pool});
}

void RecordRows::add(const EventRecord& event) {
  add_call(event.host, event.wait ? "cuStreamWaitEvent" : "cuEventRecord", 0);
  write(RowTable::events, event.host, event.wait ? "wait" : "record", event.wait, HandleCell{event.event},
        event.stream, nonzero(event.context));
}

void RecordRows::add(const CaptureRecord& capture) {
  add_call(capture.host, capture_api(capture), capture.result);
  write(RowTable::captures, capture.host, to_text(capture.step), capture.stream, nonzero(capture.context),
        HandleCell{capture.graph}, capture.result);
}

void RecordRows::add(const OverheadRecord& overhead) {
  write(RowTable::overhead, TimeSpan{overhead.start_ns, overhead.end_ns}, thread_cell(overhead.thread),
        NameCell{overhead.what}, nonzero(overhead.correlation));
}

void RecordRows::add(const HoldRecord& hold) {
  write(RowTable::holds, TimeSpan{hold.start_ns, hold.end_ns}, ThreadCell{hold.thread}, to_text(hold.cause));
}

void RecordRows::add(const GapRecord& gap) {
  write(RowTable::gaps, TimeSpan{gap.start_ns, gap.end_ns}, gap.cause);
}

void RecordRows::add(const RangeRecord& range) {
  const bool push_pop = range.name == 0;
  const std::string& text = push_pop ? trace_.own_name(range.path) : trace_.text(range.name);
  write(RowTable::ranges, range.id, TimeSpan{range.start_ns, range.end_ns},
        push_pop ? "push_pop" : "start_end", push_pop ? kNsysNvtxPushPop : kNsysNvtxStartEnd,
        ThreadCell{range.thread}, thread_cell(range.end_thread), trace_.domain_name(range.domain),
        range.domain, text, NameCell{text}, module(range.path), nonzero(range.path),
        ExtrasIn{range.extras, range.domain});
}

void RecordRows::add(const MarkRecord& mark) {
  const std::string& text = trace_.text(mark.name);
  write(RowTable::marks, mark.at_ns, kNsysNvtxMark, ThreadCell{mark.thread}, trace_.domain_name(mark.domain),
        mark.domain, text, NameCell{text}, module(mark.path), nonzero(mark.path), nonzero(mark.range),
        ExtrasIn{mark.extras, mark.domain});
}

void RecordRows::add(const ConditionRecord& record) {
  RowCell gpu, thread;
  if (record.subject == ConditionOf::gpu) gpu = std::uint64_t{record.id};
  if (record.subject == ConditionOf::thread) thread = ThreadCell{record.id};
  for (std::size_t i = 0; i < kConditionCount; ++i) {
    if (record.values[i])
      write(RowTable::conditions, record.at_ns, gpu, thread, kConditions[i].key, *record.values[i]);
  }
}

void RecordRows::add(const StackSampleRecord& record) {
  for (const StackSample& sample : record.samples) {
    write(RowTable::stack_samples, ThreadCell{record.thread}, sample_time_ns(record, sample), sample.stack,
          record.interval_ns);
  }
}

void RecordRows::add(const SamplingRecord& sampling) {
  if (sampling.interval_ns == 0) return;
  auto& collected = collected_[sampling.gpu];
  for (std::size_t column = 0; column < kSampleColumns; ++column) {
    collected[column] = std::find(sampling.columns.begin(), sampling.columns.end(),
                                  kSampleColumnNames[column]) != sampling.columns.end();
  }
}

void RecordRows::add(const SamplesRecord& samples) {
  const auto& collected = collected_[samples.gpu];
  std::size_t place = 0;
  for (const SampleRun& run : samples.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++place) {
      push_all(samples.gpu, sample_start_ns(run, i), sample_start_ns(run, i + 1));
      for (std::size_t column = 0; column < kSampleColumns; ++column) {
        const std::uint64_t unit = is_byte_column(column) ? kSampleUnitBytes : 1;
        const auto& values = samples.columns[column];
        // A column that was collected and omitted was 0 in every sample.
        push(place < values.size() ? cell(values[place] * unit) : cell_if(collected[column], 0));
      }
      end_row(RowTable::samples);
    }
  }
}

}  // namespace

void write_rows(const TraceOutline& trace, RowSink& sink) {
  LineReader reader;
  RecordRows rows(trace, sink);
  rows.add_outline();
  // read_outline() has reported what is broken.
  (void)read_lines(trace.files, reader, [&rows](const Line& line, const LinePlace&) { rows.line(line); });
}

}  // namespace rangefinder
