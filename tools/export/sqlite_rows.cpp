// SPDX-License-Identifier: Apache-2.0
#include "tools/export/sqlite_rows.h"

#include "schema/key_names.h"
#include "tools/export/handle_text.h"
#include "tools/export/sqlite_inserts.h"

namespace rangefinder {
namespace {

/// CUpti_ActivityMemcpyKind, by CopyKind.
constexpr std::array<int, kCopyKindNames.size()> kCopyKindIds{0, 1, 2, 8, 9, 10, 3, 4, 5, 6, 7};
/// As Nsight Systems counts kinds of memory, by MemoryKind.
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

/// Columns start to globalPid, which all GPU work has.
void bind_work(SqliteInsert& row, const GpuWork& work, std::int64_t global_pid) {
  row.bind(time_or_null(work.start_ns));
  row.bind(time_or_null(work.end_ns));
  row.bind(work.gpu);
  row.bind(work.context);
  row.bind(work.stream);
  row.bind(work.correlation);
  row.bind(global_pid);
}

/// graphId to captured, which all GPU work has.
void bind_origin(SqliteInsert& row, const GpuWork& work) {
  row.bind(nonzero(work.graph));
  row.bind(nonzero(work.graph_node));
  row.bind(nonzero(work.path));
  row.bind(nonzero(work.range));
  row.bind(work.captured);
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

}  // namespace rangefinder
