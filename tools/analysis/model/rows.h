// SPDX-License-Identifier: Apache-2.0
//
// The rows of a chunk's tables, and which column each of their members is.
//
//   columns_of(archive, row)     calls the archive once a member, always in the same order:
//     value(column, member)      an integer, enum or bool
//     span(column, start, end)   two times; the second is stored relative to the first
//     path(column, id)           stored as recorded, read as shown (shown_paths.h)
//     own_path(column, id, name) the path of a range; one that is no level is named ShownPaths::kUnnamed
//     text(column, view)         stored as a number, equal texts once
//
// A new member of a record is one line here. Strings and vectors are in Chunk, beside the tables.
#pragma once

#include <cstdint>

#include "schema/record.h"
#include "tools/analysis/model/columns.h"

namespace rangefinder {

/// GPU work of any kind. Copies and memsets continue in tables of their own, in the same order.
struct WorkRow {
  std::uint32_t line = 0;  ///< number in its unit
  WorkKind kind = WorkKind::kernel;
  KernelRecord kernel;  ///< of other kinds only `work`
};

enum class LaunchForm : std::uint8_t { plain, exact, counter_range };

/// A launch, or an exact line, which continues in a table of its own.
struct LaunchRow {
  LaunchForm form = LaunchForm::plain;
  LaunchRecord launch;
};

struct ExactRow {
  LaunchForm form = LaunchForm::exact;
  ExactRecord exact;         ///< without `is_counter_range`, `values` and `reason`
  std::uint32_t values = 0;  ///< how many; they are in Chunk::values
  std::string_view reason;
};

struct RangeRow {
  RangeRecord range;       ///< without NvtxExtras::payload_data
  std::uint32_t data = 0;  ///< its bytes; they are in Chunk::payload_data
};

template <typename Archive>
constexpr void columns_of(Archive& a, WorkRow& r) {
  a.value(Column::order, r.line);
  a.value({}, r.kind);
  GpuWork& work = r.kernel.work;
  a.span(Column::work_times, work.start_ns, work.end_ns);
  a.value(Column::work_place, work.gpu);
  a.value(Column::work_place, work.context);
  a.value(Column::work_place, work.stream);
  a.value(Column::work_correlation, work.correlation);
  a.path(Column::work_path, work.path);
  a.value(Column::work_range, work.range);
  a.value(Column::work_graph, work.graph);
  a.value(Column::work_graph, work.graph_node);
  a.value(Column::work_graph, work.captured);
  a.value(Column::work_name, r.kernel.name);
  a.value(Column::work_config, r.kernel.config);
}

template <typename Archive>
constexpr void columns_of(Archive& a, MemcpyRecord& r) {
  a.value(Column::copies, r.kind);
  a.value(Column::copies, r.source);
  a.value(Column::copies, r.destination);
  a.value(Column::copies, r.bytes);
  a.value(Column::copies, r.async);
  a.value(Column::copies, r.count);
  a.value(Column::copies, r.source_gpu);
  a.value(Column::copies, r.destination_gpu);
}

template <typename Archive>
constexpr void columns_of(Archive& a, MemsetRecord& r) {
  a.value(Column::copies, r.value);
  a.value(Column::copies, r.bytes);
  a.value(Column::copies, r.memory);
}

/// A call that is a table of its own: `column` is all of it.
template <typename Archive>
constexpr void columns_of(Archive& a, HostWork& r, Column column) {
  a.span(column, r.start_ns, r.end_ns);
  a.value(column, r.thread);
  a.path(column, r.path);
  a.value(column, r.range);
  a.value(column, r.inherited);
}

template <typename Archive>
constexpr void columns_of(Archive& a, LaunchRow& r) {
  HostWork& host = r.launch.host;
  a.value({}, r.form);
  a.span(Column::launch_times, host.start_ns, host.end_ns);
  a.value(Column::launch_thread, host.thread);
  a.path(Column::launch_path, host.path);
  a.value(Column::launch_range, host.range);
  a.value(Column::launch_range, host.inherited);
  a.text(Column::launch_call, r.launch.api);
  a.value(Column::launch_call, r.launch.result);
  a.value(Column::launch_correlation, r.launch.correlation);
  a.value(Column::launch_context, r.launch.context);
}

template <typename Archive>
constexpr void columns_of(Archive& a, Dim3& r, Column column) {
  a.value(column, r.x);
  a.value(column, r.y);
  a.value(column, r.z);
}

template <typename Archive>
constexpr void columns_of(Archive& a, ExactRow& row) {
  ExactRecord& r = row.exact;
  a.value(Column::exact, row.form);
  columns_of(a, r.launch.host, Column::exact);
  a.text(Column::exact, r.launch.api);
  a.value(Column::exact, r.launch.correlation);
  a.value(Column::exact, r.launch.context);
  a.value(Column::exact, r.launch.result);
  a.value(Column::exact, r.kind);
  a.value(Column::exact, r.gpu);
  a.value(Column::exact, r.name);
  columns_of(a, r.grid, Column::exact);
  columns_of(a, r.block, Column::exact);
  a.value(Column::exact, r.bytes);
  a.path(Column::exact, r.bytes_path);
  a.value(Column::exact, r.counter_range);
  a.value(Column::exact, r.launches);
  a.value(Column::exact, r.kernels);
  a.value(Column::exact, r.exclusive);
  a.value(Column::exact, r.measured);
  a.value(Column::exact, r.gpu_ns);
  a.value(Column::exact, r.has_bytes);
  a.value(Column::exact, r.dram_read_bytes);
  a.value(Column::exact, r.dram_write_bytes);
  a.value(Column::exact, r.l2_bytes);
  a.value(Column::exact, r.metric_set);
  a.value(Column::exact, row.values);
  a.text(Column::exact, row.reason);
}

template <typename Archive>
constexpr void columns_of(Archive& a, RangeRow& row) {
  RangeRecord& r = row.range;
  a.value(Column::range_id, r.id);
  a.span(Column::range_times, r.start_ns, r.end_ns);
  a.value(Column::range_thread, r.thread);
  a.value(Column::range_thread, r.end_thread);
  a.value(Column::range_path, r.name);
  a.own_path(Column::range_path, r.path, r.name);
  a.value(Column::range_payload, r.domain);
  a.value(Column::range_payload, r.extras.category);
  a.value(Column::range_payload, r.extras.color);
  a.value(Column::range_payload, r.extras.payload_type);
  a.value(Column::range_payload, r.extras.payload);
  a.value(Column::range_payload, r.extras.payload_schema);
  a.value(Column::range_payload, row.data);
}

template <typename Archive>
constexpr void columns_of(Archive& a, SyncRecord& r) {
  columns_of(a, r.host, Column::syncs);
  a.text(Column::syncs, r.api);
  a.value(Column::syncs, r.context);
  a.value(Column::syncs, r.stream);
  a.value(Column::syncs, r.event);
}

template <typename Archive>
constexpr void columns_of(Archive& a, AllocRecord& r) {
  columns_of(a, r.host, Column::allocs);
  a.text(Column::allocs, r.api);
  a.value(Column::allocs, r.is_free);
  a.value(Column::allocs, r.kind);
  a.value(Column::allocs, r.address);
  a.value(Column::allocs, r.bytes);
  a.value(Column::allocs, r.context);
  a.value(Column::allocs, r.stream);
  a.value(Column::allocs, r.pool);
}

template <typename Archive>
constexpr void columns_of(Archive& a, EventRecord& r) {
  columns_of(a, r.host, Column::events);
  a.value(Column::events, r.wait);
  a.value(Column::events, r.event);
  a.value(Column::events, r.stream);
  a.value(Column::events, r.context);
}

template <typename Archive>
constexpr void columns_of(Archive& a, CaptureRecord& r) {
  columns_of(a, r.host, Column::captures);
  a.value(Column::captures, r.step);
  a.value(Column::captures, r.stream);
  a.value(Column::captures, r.context);
  a.value(Column::captures, r.graph);
  a.value(Column::captures, r.result);
  a.text(Column::captures, r.api);
}

template <typename Archive>
constexpr void columns_of(Archive& a, MarkRecord& r) {
  a.value(Column::marks, r.at_ns);
  a.value(Column::marks, r.thread);
  a.value(Column::marks, r.name);
  a.path(Column::marks, r.path);
}

template <typename Archive>
constexpr void columns_of(Archive& a, OverheadRecord& r) {
  a.span(Column::overheads, r.start_ns, r.end_ns);
  a.text(Column::overheads, r.what);
  a.value(Column::overheads, r.thread);
  a.value(Column::overheads, r.correlation);
}

}  // namespace rangefinder
