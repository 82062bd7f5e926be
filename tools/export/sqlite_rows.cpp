// SPDX-License-Identifier: Apache-2.0
#include "tools/export/sqlite_rows.h"

#include <algorithm>

#include "schema/key_names.h"
#include "tools/analysis/read/path_names.h"
#include "tools/analysis/tables/kernel_text.h"
#include "tools/export/handle_text.h"
#include "tools/export/nvtx_payload.h"
#include "tools/export/sqlite_inserts.h"
#include "tools/export/time_span.h"

namespace rangefinder {
namespace {

/// CUpti_ActivityMemcpyKind, by CopyKind.
constexpr std::array<int, kCopyKindNames.size()> kCopyKindIds{0, 1, 2, 8, 9, 10, 3, 4, 5, 6, 7};
/// Nsight Systems' ids of memory kinds, by MemoryKind.
constexpr std::array<int, kMemoryKindNames.size()> kMemoryKindIds{0xffff, 0, 1, 2, 3, 4, 5, 6};

std::optional<TimeNs> time_or_null(TimeNs time) {
  return time == kNoTime ? std::nullopt : std::optional(time);
}

template <typename T>
std::optional<T> nonzero(T value) {
  return value == 0 ? std::nullopt : std::optional(value);
}

std::optional<std::string> handle(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional(handle_text(value));
}

/// Binds the columns start to globalPid, which all GPU work has.
void bind_work(SqliteInsert& row, const GpuWork& work, std::int64_t global_pid) {
  row.bind(time_or_null(work.start_ns));
  row.bind(time_or_null(work.end_ns));
  row.bind(work.gpu);
  row.bind(work.context);
  row.bind(work.stream);
  row.bind(work.correlation);
  row.bind(global_pid);
}

/// Binds the columns graphId to captured, which all GPU work has.
void bind_origin(SqliteInsert& row, const GpuWork& work) {
  row.bind(nonzero(work.graph));
  row.bind(nonzero(work.graph_node));
  row.bind(nonzero(work.path));
  row.bind(nonzero(work.range));
  row.bind(work.captured);
}

struct EnumRow {
  int id;
  const char* name;
  const char* label;
};
constexpr std::array kCopyKindRows{EnumRow{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
                                   EnumRow{1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
                                   EnumRow{2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
                                   EnumRow{3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
                                   EnumRow{4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
                                   EnumRow{5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
                                   EnumRow{6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
                                   EnumRow{7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
                                   EnumRow{8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
                                   EnumRow{9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
                                   EnumRow{10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"}};
constexpr std::array kMemoryKinds{EnumRow{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
                                  EnumRow{1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
                                  EnumRow{2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
                                  EnumRow{3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
                                  EnumRow{4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
                                  EnumRow{5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
                                  EnumRow{6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
                                  EnumRow{0xffff, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"}};
constexpr std::array kEventTypes{EnumRow{kNsysNvtxCategory, "NvtxCategory", "NVTX category"},
                                 EnumRow{kNsysNvtxMark, "NvtxMark", "NVTX mark"},
                                 EnumRow{kNsysNvtxPushPop, "NvtxPushPopRange", "NVTX push/pop range"},
                                 EnumRow{kNsysNvtxStartEnd, "NvtxStartEndRange", "NVTX start/end range"},
                                 EnumRow{kNsysNvtxDomain, "NvtxDomainCreate", "NVTX domain"}};

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

}  // namespace

SqliteRows::SqliteRows(const TraceOutline& trace, SqliteDatabase& database)
    : trace_(trace), inserts_(std::make_unique<Inserts>(database)) {}

SqliteRows::~SqliteRows() = default;

void SqliteRows::line(const Line& line, const LinePlace&) {
  std::visit([this](const auto& record) { add(record); }, line);
}

std::int64_t SqliteRows::global_tid(std::uint32_t thread) const {
  const auto pid = static_cast<std::uint64_t>(trace_.header.pid) & 0xFFFFFF;
  return static_cast<std::int64_t>(pid << 24 | (thread & 0xFFFFFF));
}

std::int64_t SqliteRows::string_id(std::string_view text) {
  const auto it = strings_.find(text);
  if (it != strings_.end()) return it->second;
  const auto id = static_cast<std::int64_t>(strings_.size()) + 1;
  strings_.emplace(text, id);
  inserts_->strings.add(id, text);
  return id;
}

void SqliteRows::add(const KernelRecord& kernel) {
  SqliteInsert& row = inserts_->kernels;
  const KernelTexts& texts = kernel_texts(kernel.name);
  bind_work(row, kernel.work, global_tid(0));
  row.bind(texts.demangled);
  row.bind(texts.short_name);
  row.bind(texts.mangled);
  const auto known = trace_.configs.find(kernel.config);
  if (known == trace_.configs.end()) {
    for (int i = 0; i < 11; ++i) row.bind(std::nullopt);
  } else {
    const LaunchConfigRecord& c = known->second;
    for (const std::uint32_t value :
         {c.registers, c.grid.x, c.grid.y, c.grid.z, c.block.x, c.block.y, c.block.z, c.static_shared_bytes,
          c.dynamic_shared_bytes, c.shared_bytes_executed, c.local_bytes_per_thread}) {
      row.bind(value);
    }
  }
  bind_origin(row, kernel.work);
  row.bind(texts.from_library);
  row.run();
}

void SqliteRows::add(const MemcpyRecord& copy) {
  SqliteInsert& row = inserts_->memcpys;
  bind_work(row, copy.work, global_tid(0));
  row.bind(copy.bytes);
  row.bind(kCopyKindIds[static_cast<std::size_t>(copy.kind)]);
  row.bind(kMemoryKindIds[static_cast<std::size_t>(copy.source)]);
  row.bind(kMemoryKindIds[static_cast<std::size_t>(copy.destination)]);
  const bool peer = copy.kind == CopyKind::PtoP;
  row.bind(peer ? std::optional(copy.source_gpu) : std::nullopt);
  row.bind(peer ? std::optional(copy.destination_gpu) : std::nullopt);
  row.bind(copy.count);
  bind_origin(row, copy.work);
  row.bind(copy.async);
  row.run();
}

void SqliteRows::add(const MemsetRecord& memset) {
  SqliteInsert& row = inserts_->memsets;
  bind_work(row, memset.work, global_tid(0));
  row.bind(memset.value);
  row.bind(memset.bytes);
  row.bind(kMemoryKindIds[static_cast<std::size_t>(memset.memory)]);
  bind_origin(row, memset.work);
  row.run();
}

void SqliteRows::add(const GraphRecord& graph) {
  SqliteInsert& row = inserts_->graphs;
  bind_work(row, graph.work, global_tid(0));
  bind_origin(row, graph.work);
  row.run();
}

void SqliteRows::call(const HostWork& host, std::string_view api, std::optional<std::uint32_t> correlation,
                      std::int32_t result) {
  inserts_->runtime.add(time_or_null(host.start_ns), time_or_null(host.end_ns), global_tid(host.thread),
                        correlation, string_id(api), result, nonzero(host.path), nonzero(host.range));
}

void SqliteRows::add(const LaunchRecord& launch) {
  call(launch.host, launch.api, launch.correlation, launch.result);
}

void SqliteRows::add(const ExactRecord& exact) {
  const LaunchRecord& launch = exact.launch;
  if (!exact.is_counter_range) call(launch.host, launch.api, launch.correlation, launch.result);
  SqliteInsert& row = inserts_->exact;
  row.bind(exact.is_counter_range ? std::nullopt : std::optional(launch.correlation));
  row.bind(nonzero(exact.counter_range));
  row.bind(exact.is_counter_range ? std::string_view("range") : to_text(exact.kind));
  row.bind(exact.gpu);
  row.bind(nonzero(launch.host.path));
  row.bind(nonzero(launch.host.range));
  row.bind(exact.is_counter_range ? std::optional(exact.launches) : std::nullopt);
  row.bind(exact.is_counter_range ? std::optional(exact.kernels) : std::nullopt);
  row.bind(exact.is_counter_range ? std::optional(exact.exclusive) : std::nullopt);
  row.bind(exact.measured && has_gpu_time(exact) ? std::optional(exact.gpu_ns) : std::nullopt);
  for (const std::uint64_t bytes : {exact.dram_read_bytes, exact.dram_write_bytes, exact.l2_bytes}) {
    row.bind(exact.measured && exact.has_bytes ? std::optional(bytes) : std::nullopt);
  }
  const auto set = trace_.metric_sets.find(exact.metric_set);
  row.bind(set == trace_.metric_sets.end() ? std::nullopt : std::optional(set->second.name));
  row.bind(exact.reason.empty() ? std::nullopt : std::optional(exact.reason));
  row.run();
  if (exact.measured && set != trace_.metric_sets.end()) metrics(exact);
}

void SqliteRows::metrics(const ExactRecord& exact) {
  const MetricSetRecord& set = trace_.metric_sets.at(exact.metric_set);
  for (std::size_t i = 0; i < exact.values.size() && i < set.metrics.size(); ++i) {
    inserts_->metrics.add(exact.is_counter_range ? std::nullopt : std::optional(exact.launch.correlation),
                          nonzero(exact.counter_range), set.name, string_id(set.metrics[i]), exact.values[i]);
  }
}

void SqliteRows::add(const SyncRecord& sync) {
  call(sync.host, sync.api, std::nullopt, 0);
  inserts_->syncs.add(time_or_null(sync.host.start_ns), time_or_null(sync.host.end_ns),
                      global_tid(sync.host.thread), string_id(sync.api), nonzero(sync.context),
                      nonzero(sync.stream), handle(sync.event), nonzero(sync.host.path),
                      nonzero(sync.host.range));
}

void SqliteRows::add(const AllocRecord& alloc) {
  call(alloc.host, alloc.api, std::nullopt, 0);
  inserts_->allocations.add(
      time_or_null(alloc.host.start_ns), time_or_null(alloc.host.end_ns), global_tid(alloc.host.thread),
      string_id(alloc.api), alloc.is_free, to_text(alloc.kind), handle(alloc.address),
      alloc.is_free ? std::nullopt : std::optional(alloc.bytes), nonzero(alloc.context),
      nonzero(alloc.stream), handle(alloc.pool), nonzero(alloc.host.path), nonzero(alloc.host.range));
}

void SqliteRows::add(const EventRecord& event) {
  call(event.host, event.wait ? "cuStreamWaitEvent" : "cuEventRecord", std::nullopt, 0);
  inserts_->events.add(time_or_null(event.host.start_ns), time_or_null(event.host.end_ns),
                       global_tid(event.host.thread), event.wait, handle(event.event), event.stream,
                       nonzero(event.context), nonzero(event.host.path), nonzero(event.host.range));
}

void SqliteRows::add(const CaptureRecord& capture) {
  const bool begins = capture.step == CaptureStep::begin;
  call(capture.host, begins ? "cuStreamBeginCapture" : "cuStreamEndCapture", std::nullopt, capture.result);
  inserts_->captures.add(time_or_null(capture.host.start_ns), time_or_null(capture.host.end_ns),
                         global_tid(capture.host.thread), to_text(capture.step), capture.stream,
                         nonzero(capture.context), handle(capture.graph), capture.result,
                         nonzero(capture.host.path), nonzero(capture.host.range));
}

void SqliteRows::add(const OverheadRecord& overhead) {
  inserts_->overhead.add(time_or_null(overhead.start_ns), time_or_null(overhead.end_ns),
                         overhead.thread == 0 ? std::nullopt : std::optional(global_tid(overhead.thread)),
                         nonzero(overhead.correlation), string_id(overhead.what));
}

void SqliteRows::add_enumerations() {
  for (const EnumRow& row : kCopyKindRows) inserts_->copy_kinds.add(row.id, row.name, row.label);
  for (const EnumRow& row : kMemoryKinds) inserts_->memory_kinds.add(row.id, row.name, row.label);
  for (const EnumRow& row : kEventTypes) inserts_->event_types.add(row.id, row.name, row.label);
}

void SqliteRows::add_trace_facts() {
  const Header& header = trace_.header;
  const std::int64_t global_pid = global_tid(0);
  inserts_->session.add(header.base_unix_ns);
  inserts_->environment.add("Hostname", header.host);
  inserts_->environment.add("CUDA driver version", header.driver_version);
  inserts_->processes.add(global_pid, header.pid, header.executable);
  const std::pair<const char*, std::string> facts[] = {
      {"schema", kTraceSchema},
      {"tool_version", header.tool_version},
      {"folder", trace_.files.folder.string()},
      {"rank", header.rank},
      {"base_unix_ns", std::to_string(header.base_unix_ns)},
      {"last_ns", std::to_string(trace_.last_ns)},
      {"driver_release", header.driver_release},
      {"counters", header.counters},
      {"counters_reason", header.counters_reason},
      {"end_reason", trace_.end ? trace_.end->reason : "killed, or still running"}};
  for (const auto& [name, value] : facts) inserts_->trace.add(name, value);
  for (std::size_t i = 0; i < kLossCauses.size(); ++i) {
    if (trace_.loss[i] != 0) inserts_->loss.add(kLossCauses[i].name, trace_.loss[i], kLossCauses[i].meaning);
  }
}

void SqliteRows::add_names() {
  for (const auto& [thread, name] : trace_.threads) {
    inserts_->thread_names.add(string_id(name), 0, global_tid(thread));
  }
  for (const GpuRecord& gpu : trace_.gpus) {
    inserts_->gpus.add(gpu.id, gpu.name, gpu.uuid, gpu.compute_major, gpu.compute_minor, gpu.sm_count,
                       gpu.memory_bytes, gpu.l2_bytes, gpu.peak_dram_bytes_per_s, gpu.sm_clock_khz * 1000);
  }
  for (const auto& [id, context] : trace_.contexts)
    inserts_->contexts.add(id, context.gpu, context.null_stream);
  for (const auto& [key, stream] : trace_.streams) {
    // CUpti_ActivityStreamFlag: 1 default, 2 non-blocking, 3 the null stream.
    const auto context = trace_.contexts.find(stream.context);
    const bool is_null = context != trace_.contexts.end() && context->second.null_stream == stream.id;
    inserts_->streams.add(stream.id, stream.context, stream.priority,
                          is_null               ? 3
                          : stream.non_blocking ? 2
                                                : 1);
  }
  for (const auto& [id, path] : trace_.paths) {
    const std::uint32_t parent = trace_.parent_of(id);
    inserts_->paths.add(id, parent == 0 ? std::nullopt : std::optional(parent), path_depth(trace_.paths, id),
                        path.name, trace_.domain_name(path.domain), trace_.path_text(id));
  }
  SqliteInsert& nvtx_row = inserts_->nvtx;
  const auto name_event = [&](int type, std::uint32_t domain, std::uint32_t category,
                              const std::string& text) {
    nvtx_row.add(std::nullopt, std::nullopt, type, std::nullopt, category, std::nullopt, text, global_tid(0),
                 std::nullopt, string_id(text), domain, std::nullopt, std::nullopt, std::nullopt,
                 std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  };
  for (const auto& [id, name] : trace_.domains) name_event(kNsysNvtxDomain, id, 0, name);
  for (const auto& [key, name] : trace_.categories)
    name_event(kNsysNvtxCategory, key.first, key.second, name);
}

void SqliteRows::add_outline() {
  add_enumerations();
  add_trace_facts();
  add_names();
}

const SqliteRows::KernelTexts& SqliteRows::kernel_texts(std::uint32_t name) {
  const auto [it, is_new] = kernel_texts_.try_emplace(name);
  if (is_new) {
    const KernelNameRecord& known = trace_.kernel_name(name);
    it->second = {string_id(known.demangled), string_id(kernel_base_name(known.demangled)),
                  string_id(known.mangled), string_id(known.from_library)};
  }
  return it->second;
}

/// Binds the columns uint64Value to floatValue.
void SqliteRows::nvtx(const NvtxExtras& extras) {
  SqliteInsert& row = inserts_->nvtx;
  const PayloadValue value = payload_value(extras);
  const auto column = [&](PayloadType type) {
    if (extras.payload_type != type) return row.bind(std::nullopt);
    std::visit(
        [&](const auto& number) {
          if constexpr (std::is_same_v<std::decay_t<decltype(number)>, std::monostate>) {
            row.bind(std::nullopt);
          } else {
            row.bind(number);
          }
        },
        value);
  };
  for (const PayloadType type : {PayloadType::u64, PayloadType::i64, PayloadType::f64, PayloadType::u32,
                                 PayloadType::i32, PayloadType::f32}) {
    column(type);
  }
}

void SqliteRows::add(const RangeRecord& range) {
  const std::string& text = range.name == 0 ? trace_.own_name(range.path) : trace_.text(range.name);
  SqliteInsert& row = inserts_->nvtx;
  row.bind(range.start_ns);
  row.bind(range.end_ns == kNoTime ? std::nullopt : std::optional(range.end_ns));
  row.bind(range.name == 0 ? kNsysNvtxPushPop : kNsysNvtxStartEnd);
  row.bind(range.id);
  row.bind(range.extras.category);
  row.bind(range.extras.color == 0 ? std::nullopt : std::optional(range.extras.color));
  row.bind(text);
  row.bind(global_tid(range.thread));
  row.bind(range.end_thread == 0 ? std::nullopt : std::optional(global_tid(range.end_thread)));
  row.bind(string_id(text));
  row.bind(range.domain);
  nvtx(range.extras);
  row.bind(range.path == 0 ? std::nullopt : std::optional(range.path));
  row.bind(std::nullopt);
  row.run();
}

void SqliteRows::add(const MarkRecord& mark) {
  const std::string& text = trace_.text(mark.name);
  SqliteInsert& row = inserts_->nvtx;
  row.bind(mark.at_ns);
  row.bind(std::nullopt);
  row.bind(kNsysNvtxMark);
  row.bind(std::nullopt);
  row.bind(mark.extras.category);
  row.bind(mark.extras.color == 0 ? std::nullopt : std::optional(mark.extras.color));
  row.bind(text);
  row.bind(global_tid(mark.thread));
  row.bind(std::nullopt);
  row.bind(string_id(text));
  row.bind(mark.domain);
  nvtx(mark.extras);
  row.bind(mark.path == 0 ? std::nullopt : std::optional(mark.path));
  row.bind(mark.range == 0 ? std::nullopt : std::optional(mark.range));
  row.run();
}

void SqliteRows::add(const SamplingRecord& sampling) {
  if (sampling.interval_ns == 0) return;
  auto& collected = collected_[sampling.gpu];
  for (std::size_t column = 0; column < kSampleColumns; ++column) {
    collected[column] = std::find(sampling.columns.begin(), sampling.columns.end(),
                                  kSampleColumnNames[column]) != sampling.columns.end();
  }
}

void SqliteRows::add(const SamplesRecord& samples) {
  const auto& collected = collected_[samples.gpu];
  SqliteInsert& row = inserts_->samples;
  std::size_t place = 0;
  for (const SampleRun& run : samples.runs) {
    for (std::uint32_t i = 0; i < run.count; ++i, ++place) {
      row.bind(samples.gpu);
      row.bind(sample_start_ns(run, i));
      row.bind(sample_start_ns(run, i + 1));
      for (std::size_t column = 0; column < kSampleColumns; ++column) {
        const std::uint64_t unit = is_byte_column(column) ? kSampleUnitBytes : 1;
        const auto& values = samples.columns[column];
        if (place < values.size()) {
          row.bind(values[place] * unit);
        } else if (collected[column]) {
          row.bind(0);  // an omitted column was 0 in every sample
        } else {
          row.bind(std::nullopt);
        }
      }
      row.run();
    }
  }
}

}  // namespace rangefinder
