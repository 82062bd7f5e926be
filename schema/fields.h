// SPDX-License-Identifier: Apache-2.0
//
// The keys of every kind of line, in their order, stated once for writing and reading.
//
//   fields(archive, record)      HotLine      appends kernel and launch lines, quickly   hot_line.h
//                                LineWriter   appends the others                         line_writer.h
//                                LineKeys     reads any order of keys, reports errors    line_keys.h
//                                LineScanner  reads the writer's form, else gives up     line_scanner.h
//
//   required      always in the line
//   optional      omitted if it is 0, false or empty
//   time          nanoseconds, always; readers refuse what is beyond kMaxNs
//   text          a text that the record borrows, always
//   handle        "0x…", always; nonzero_handle: omitted if 0
//   big_number    a signed integer as text, always: JSON readers round numbers over 2^53
//   present(written, keys…)      whether the next keys are in the line: `written` for a writer, a look for
//                                one of the keys for a reader
//
// An archive has only the functions that its kinds need. Its kReads says whether it reads; its kInOrder, that
// keys come in the order of the list. Contents that no list describes are overloads of fields() for
// LineWriter, LineKeys and LineScanner (write_extras.cpp, read_extras.cpp, scan_extras.cpp and so on).
#pragma once

#include <algorithm>
#include <type_traits>

#include "schema/key.h"
#include "schema/key_names.h"
#include "schema/record.h"

namespace rangefinder {

template <typename Archive, typename Record>
using Ref = std::conditional_t<Archive::kReads, Record&, const Record&>;

// ---- Lists that several kinds share

template <typename Archive>
void time_span(Archive& a, Ref<Archive, TimeNs> start_ns, Ref<Archive, TimeNs> end_ns) {
  a.time("start"_key, start_ns);
  a.time("end"_key, end_ns);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, GpuWork> r) {
  if (a.present(r.start_ns != kNoTime && r.end_ns != kNoTime, "start"_key, "end"_key)) {
    time_span(a, r.start_ns, r.end_ns);
  }
  a.required("gpu"_key, r.gpu);
  a.required("ctx"_key, r.context);
  a.required("stream"_key, r.stream);
  a.required("corr"_key, r.correlation);
  a.optional("path"_key, r.path);
  a.optional("range"_key, r.range);
  a.optional("graph"_key, r.graph);
  if (a.present(r.graph_node != 0, "node"_key)) {
    std::uint64_t number = node_number(r);
    a.required("node"_key, number);
    if constexpr (Archive::kReads) r.graph_node = node_id(r.graph, number);
  }
  a.optional("captured"_key, r.captured);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, HostWork> r) {
  time_span(a, r.start_ns, r.end_ns);
  a.required("thread"_key, r.thread);
  a.optional("path"_key, r.path);
  a.optional("range"_key, r.range);
  a.optional("inherited"_key, r.inherited);
}

// ---- Events

template <typename Archive>
void fields(Archive& a, Ref<Archive, KernelRecord> r) {
  fields(a, r.work);
  a.required("name"_key, r.name);
  a.required("config"_key, r.config);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, MemcpyRecord> r) {
  fields(a, r.work);
  a.required("kind"_key, r.kind, kCopyKindNames);
  a.required("src"_key, r.source, kMemoryKindNames);
  a.required("dst"_key, r.destination, kMemoryKindNames);
  a.required("bytes"_key, r.bytes);
  a.optional("async"_key, r.async);
  if (a.present(r.count > 1, "count"_key)) a.required("count"_key, r.count);
  if (r.kind != CopyKind::PtoP) return;
  a.required("src_gpu"_key, r.source_gpu);
  a.required("dst_gpu"_key, r.destination_gpu);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, MemsetRecord> r) {
  fields(a, r.work);
  a.required("bytes"_key, r.bytes);
  a.optional("value"_key, r.value);
  a.required("memory"_key, r.memory, kMemoryKindNames);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, GraphRecord> r) {
  fields(a, r.work);
  if (a.present(r.launcher != 0, "launcher"_key)) {
    a.required("launcher"_key, r.launcher);
    a.required("device_launch"_key, r.device_launch, kDeviceLaunchNames);
  }
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, HostFunctionRecord> r) {
  fields(a, r.wait);
  a.optional("thread"_key, r.thread);
}

template <typename Archive>
void call_fields(Archive& a, Ref<Archive, LaunchRecord> r) {
  a.text("api"_key, r.api);
  a.required("corr"_key, r.correlation);
  a.optional("ctx"_key, r.context);
  a.optional("result"_key, r.result);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, LaunchRecord> r) {
  fields(a, r.host);
  call_fields(a, r);
}

template <typename Archive>
void exact_kind(Archive& a, Ref<Archive, ExactRecord> r) {
  auto kind = r.is_counter_range ? kExactRangeKind : static_cast<std::size_t>(r.kind);
  a.required("kind"_key, kind, kExactKindNames);
  if constexpr (Archive::kReads) {
    if constexpr (Archive::kInOrder) a.expect(r.is_counter_range == (kind == kExactRangeKind));
    r.is_counter_range = kind == kExactRangeKind;
    if (!r.is_counter_range) r.kind = static_cast<WorkKind>(kind);
  }
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, ExactRecord> r) {
  if constexpr (!Archive::kInOrder) exact_kind(a, r);  // the other keys depend on it
  fields(a, r.launch.host);
  // The kind comes later: only a launch has "api".
  if constexpr (Archive::kReads && Archive::kInOrder) r.is_counter_range = !a.present(true, "api"_key);
  if (r.is_counter_range) {
    a.optional("ctx"_key, r.launch.context);
  } else {
    call_fields(a, r.launch);
  }
  if constexpr (Archive::kInOrder) exact_kind(a, r);
  a.required("gpu"_key, r.gpu);
  if (r.is_counter_range) {
    a.required("counter_range"_key, r.counter_range);
    a.required("launches"_key, r.launches);
    a.required("kernels"_key, r.kernels);
    if (a.present(!r.exclusive, "exclusive"_key)) a.required("exclusive"_key, r.exclusive);
  } else {
    a.optional("name"_key, r.name);
    a.optional("grid"_key, r.grid);
    a.optional("block"_key, r.block);
    a.optional("bytes"_key, r.bytes);
    a.optional("bytes_path"_key, r.bytes_path);
    a.optional("shared_range"_key, r.counter_range);
  }
  measurement_fields(a, r);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, SamplesRecord> r) {
  a.required("gpu"_key, r.gpu);
  sample_fields(a, r);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, SamplingRecord> r) {
  a.time("at"_key, r.at_ns);
  a.required("gpu"_key, r.gpu);
  a.required("interval"_key, r.interval_ns);
  a.required("columns"_key, r.columns);
  a.required("reason"_key, r.reason);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, MonitorRecord> r) {
  time_span(a, r.start_ns, r.end_ns);
  a.required("window"_key, r.window_ns);
  a.optional("path"_key, r.path);
  a.optional("launches"_key, r.launches);
  a.optional("ranges"_key, r.ranges);
  a.optional("range_ns"_key, r.range_ns);
  a.optional("window_launches"_key, r.window_launches);
  a.optional("kernels"_key, r.kernels);
  a.optional("kernel_ns"_key, r.kernel_ns);
  a.optional("copies"_key, r.copies);
  a.optional("copy_ns"_key, r.copy_ns);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, SyncRecord> r) {
  fields(a, r.host);
  a.text("api"_key, r.api);
  a.optional("ctx"_key, r.context);
  a.optional("stream"_key, r.stream);
  a.nonzero_handle("event"_key, r.event);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, AllocRecord> r) {
  fields(a, r.host);
  a.text("api"_key, r.api);
  a.required("memory"_key, r.kind, kAllocKindNames);
  a.handle("address"_key, r.address);
  a.optional("bytes"_key, r.bytes);
  a.optional("ctx"_key, r.context);
  a.optional("stream"_key, r.stream);
  a.nonzero_handle("pool"_key, r.pool);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, EventRecord> r) {
  fields(a, r.host);
  a.handle("event"_key, r.event);
  a.optional("stream"_key, r.stream);
  a.optional("ctx"_key, r.context);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, CaptureRecord> r) {
  fields(a, r.host);
  a.required("step"_key, r.step, kCaptureStepNames);
  a.optional("stream"_key, r.stream);
  a.optional("ctx"_key, r.context);
  a.nonzero_handle("graph"_key, r.graph);
  a.optional("result"_key, r.result);
  if (a.present(r.step == CaptureStep::broken_by, "api"_key)) a.text("api"_key, r.api);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, OverheadRecord> r) {
  time_span(a, r.start_ns, r.end_ns);
  a.optional("thread"_key, r.thread);
  a.text("what"_key, r.what);
  a.optional("corr"_key, r.correlation);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, HoldRecord> r) {
  time_span(a, r.start_ns, r.end_ns);
  a.required("thread"_key, r.thread);
  a.required("cause"_key, r.cause, kHoldCauseNames);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, GapRecord> r) {
  time_span(a, r.start_ns, r.end_ns);
  a.text("cause"_key, r.cause);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, RangeRecord> r) {
  a.time("start"_key, r.start_ns);
  a.time_or_null("end"_key, r.end_ns);
  a.required("id"_key, r.id);
  a.required("thread"_key, r.thread);
  a.optional("domain"_key, r.domain);
  a.optional("name"_key, r.name);
  if (r.name == 0) {
    a.required("path"_key, r.path);
  } else {
    a.optional("path"_key, r.path);
    a.optional("end_thread"_key, r.end_thread);
  }
  fields(a, r.extras);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, MarkRecord> r) {
  a.time("at"_key, r.at_ns);
  a.required("thread"_key, r.thread);
  a.optional("domain"_key, r.domain);
  a.required("name"_key, r.name);
  a.optional("path"_key, r.path);
  a.optional("range"_key, r.range);
  fields(a, r.extras);
}

// ---- Ids and names

template <typename Archive>
void fields(Archive& a, Ref<Archive, Header> r) {
  version_fields(a);
  a.required("segment"_key, r.segment);
  a.big_number("base_unix_ns"_key, r.base_unix_ns);
  a.big_number("base_monotonic_ns"_key, r.base_monotonic_ns);
  a.required("tool_version"_key, r.tool_version);
  a.required("pid"_key, r.pid);
  a.required("parent_pid"_key, r.parent_pid);
  a.required("host"_key, r.host);
  a.required("executable"_key, r.executable);
  a.required("command"_key, r.command);
  a.optional("driver_version"_key, r.driver_version);
  a.optional("driver_release"_key, r.driver_release);
  a.optional("runtime_version"_key, r.runtime_version);
  a.optional("cupti_version"_key, r.cupti_version);
  a.optional("cupti_path"_key, r.cupti_path);
  a.required("counters"_key, r.counters);
  a.optional("counters_reason"_key, r.counters_reason);
  a.optional("rank"_key, r.rank);
  a.optional("monitor_window"_key, r.monitor_window_ns);
  a.optional("monitor_period"_key, r.monitor_period_ns);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, GpuRecord> r) {
  a.required("id"_key, r.id);
  a.required("name"_key, r.name);
  a.required("uuid"_key, r.uuid);
  capability_field(a, r);
  a.required("sm_count"_key, r.sm_count);
  a.optional("warps_per_sm"_key, r.warps_per_sm);
  a.optional("registers_per_sm"_key, r.registers_per_sm);
  a.optional("shared_bytes_per_sm"_key, r.shared_bytes_per_sm);
  a.required("memory_bytes"_key, r.memory_bytes);
  a.required("l2_bytes"_key, r.l2_bytes);
  a.optional("memory_bus_bits"_key, r.memory_bus_bits);
  a.optional("memory_clock_khz"_key, r.memory_clock_khz);
  a.optional("sm_clock_khz"_key, r.sm_clock_khz);
  a.optional("peak_dram_bytes_per_s"_key, r.peak_dram_bytes_per_s);
  if (a.present(!r.peak_flops.empty(), "peak_flops"_key)) a.required("peak_flops"_key, r.peak_flops);
  a.optional("mig"_key, r.mig);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, ContextRecord> r) {
  a.required("id"_key, r.id);
  a.required("gpu"_key, r.gpu);
  a.optional("null_stream"_key, r.null_stream);
  a.optional("green"_key, r.green);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, StreamRecord> r) {
  a.required("id"_key, r.id);
  a.required("ctx"_key, r.context);
  a.optional("priority"_key, r.priority);
  a.optional("non_blocking"_key, r.non_blocking);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, ThreadRecord> r) {
  a.required("id"_key, r.id);
  a.required("name"_key, r.name);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, DomainRecord> r) {
  a.required("id"_key, r.id);
  a.required("name"_key, r.name);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, CategoryRecord> r) {
  a.required("domain"_key, r.domain);
  a.required("id"_key, r.id);
  a.required("name"_key, r.name);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, NameRecord> r) {
  a.required("id"_key, r.id);
  a.required("text"_key, r.text);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, PathRecord> r) {
  a.required("id"_key, r.id);
  a.required("parent"_key, r.parent);
  a.required("name"_key, r.name);
  a.optional("domain"_key, r.domain);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, ModuleSourceRecord> r) {
  a.required("path"_key, r.path);
  a.optional("class_file"_key, r.class_file);
  a.optional("class_line"_key, r.class_line);
  a.optional("call_file"_key, r.call_file);
  a.optional("call_line"_key, r.call_line);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, KernelNameRecord> r) {
  a.required("id"_key, r.id);
  a.required("mangled"_key, r.mangled);
  a.required("demangled"_key, r.demangled);
  a.required("library"_key, r.from_library);
  a.required("evidence"_key, r.evidence);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, LaunchConfigRecord> r) {
  a.required("id"_key, r.id);
  a.required("grid"_key, r.grid);
  a.required("block"_key, r.block);
  a.optional("cluster"_key, r.cluster);
  a.optional("registers"_key, r.registers);
  a.optional("static_shared_bytes"_key, r.static_shared_bytes);
  a.optional("dynamic_shared_bytes"_key, r.dynamic_shared_bytes);
  a.optional("shared_bytes_executed"_key, r.shared_bytes_executed);
  a.optional("local_bytes_per_thread"_key, r.local_bytes_per_thread);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, PayloadSchemaRecord> r) {
  a.required("id"_key, r.id);
  a.optional("domain"_key, r.domain);
  definition_field(a, r);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, MetricSetRecord> r) {
  a.required("id"_key, r.id);
  a.required("name"_key, r.name);
  a.required("metrics"_key, r.metrics);
}

// ---- The trace itself

template <typename Archive>
void fields(Archive& a, Ref<Archive, ClockRecord> r) {
  a.time("at"_key, r.at_ns);
  a.time("monotonic"_key, r.monotonic_ns);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, FlushRecord> r) {
  a.time("at"_key, r.at_ns);
  a.required("records"_key, r.records);
  const bool lost = std::any_of(r.loss.begin(), r.loss.end(), [](std::uint64_t n) { return n != 0; });
  if (a.present(lost, "loss"_key)) loss_field(a, r.loss);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, EndRecord> r) {
  a.time("at"_key, r.at_ns);
  a.required("reason"_key, r.reason);
  a.required("records"_key, r.records);
  ledger_fields(a, r);
}

}  // namespace rangefinder
