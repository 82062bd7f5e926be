// SPDX-License-Identifier: Apache-2.0
//
// The only list of the kinds of lines. write_line(), the alternatives of Line, the reader's search and
// line_kind() are made from it. The keys of a kind: fields.h.
#pragma once

#include <string_view>

#include "schema/record.h"

namespace rangefinder {

// X(record, `t` of its line), or X(record, `t` if the member is false, `t` if it is true, member). Readers
// search from the first: the most frequent kinds come first.
#define RANGEFINDER_KINDS(X)                                        \
  X(KernelRecord, "kernel")                                         \
  X(LaunchRecord, "launch")                                         \
  X(RangeRecord, "range")                                           \
  X(ExactRecord, "exact")                                           \
  X(MemcpyRecord, "memcpy")                                         \
  X(SamplesRecord, "samples")                                       \
  X(MemsetRecord, "memset")                                         \
  X(GraphRecord, "graph")                                           \
  X(SyncRecord, "sync")                                             \
  X(AllocRecord, "alloc", "free", &AllocRecord::is_free)            \
  X(EventRecord, "event_record", "stream_wait", &EventRecord::wait) \
  X(OverheadRecord, "overhead")                                     \
  X(HostFunctionRecord, "host_function")                            \
  X(HoldRecord, "hold")                                             \
  X(GapRecord, "gap")                                               \
  X(MarkRecord, "mark")                                             \
  X(PathRecord, "path")                                             \
  X(ModuleSourceRecord, "module_source")                            \
  X(KernelOriginRecord, "kernel_origin")                            \
  X(NameRecord, "name")                                             \
  X(KernelNameRecord, "kernel_name")                                \
  X(LaunchConfigRecord, "config")                                   \
  X(CaptureRecord, "capture")                                       \
  X(SamplingRecord, "sampling")                                     \
  X(MonitorRecord, "monitor")                                       \
  X(ConditionRecord, "condition")                                   \
  X(StackSampleRecord, "stack_sample")                              \
  X(StackRecord, "stack")                                           \
  X(FrameRecord, "frame")                                           \
  X(ClockRecord, "clock")                                           \
  X(FlushRecord, "flush")                                           \
  X(Header, "header")                                               \
  X(GpuRecord, "gpu")                                               \
  X(ContextRecord, "context")                                       \
  X(StreamRecord, "stream")                                         \
  X(ThreadRecord, "thread")                                         \
  X(DomainRecord, "domain")                                         \
  X(CategoryRecord, "category")                                     \
  X(PayloadSchemaRecord, "payload_schema")                          \
  X(MetricSetRecord, "metric_set")                                  \
  X(EndRecord, "end")

template <typename Record>
struct Kind {
  std::string_view name;
  std::string_view name_if_flag = {};
  bool Record::*flag = nullptr;
};

template <typename Record>
inline constexpr Kind<Record> kKind;
#define X(Record, ...) \
  template <>          \
  inline constexpr Kind<Record> kKind<Record>{__VA_ARGS__};
RANGEFINDER_KINDS(X)
#undef X

/// The `t` of the record's line.
template <typename Record>
[[nodiscard]] constexpr std::string_view kind_name(const Record& record) noexcept {
  constexpr const Kind<Record>& kKindOf = kKind<Record>;
  if constexpr (kKindOf.flag != nullptr) {
    if (record.*kKindOf.flag) return kKindOf.name_if_flag;
  }
  return kKindOf.name;
}

/// True for lines of events, which heartbeats and the end line count. Other lines define names or describe
/// the trace.
[[nodiscard]] constexpr bool is_event(std::string_view kind) noexcept {
  constexpr std::string_view kEvents[]{
      "kernel",  "memcpy",       "memset",      "launch",        "exact",     "samples",     "sync", "alloc",
      "free",    "event_record", "stream_wait", "capture",       "overhead",  "range",       "mark", "graph",
      "monitor", "hold",         "gap",         "host_function", "condition", "stack_sample"};
  for (const std::string_view event : kEvents) {
    if (event == kind) return true;
  }
  return false;
}

}  // namespace rangefinder
