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

#include "schema/key.h"
#include "schema/key_names.h"
#include "schema/naming_fields.h"
#include "schema/record.h"

namespace rangefinder {

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

template <typename Archive>
void fields(Archive& a, Ref<Archive, ConditionRecord> r) {
  a.time("at"_key, r.at_ns);
  condition_fields(a, r);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, StackSampleRecord> r) {
  time_span(a, r.start_ns, r.end_ns);
  a.required("thread"_key, r.thread);
  a.required("interval"_key, r.interval_ns);
  stack_sample_fields(a, r);
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
