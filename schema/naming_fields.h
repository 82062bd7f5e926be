// SPDX-License-Identifier: Apache-2.0
//
// The keys of lines that define ids and names (naming_record.h), as fields.h states those of the others.
#pragma once

#include "schema/key.h"
#include "schema/key_names.h"
#include "schema/naming_record.h"
#include "schema/stack_record.h"

namespace rangefinder {

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
  a.optional("ranks"_key, r.ranks);
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
void fields(Archive& a, Ref<Archive, KernelOriginRecord> r) {
  a.required("kernel"_key, r.kernel);
  a.required("path"_key, r.path);
  a.required("operators"_key, r.operators);
  a.optional("file"_key, r.file);
  a.optional("line"_key, r.line);
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
void fields(Archive& a, Ref<Archive, FrameRecord> r) {
  a.required("id"_key, r.id);
  a.required("function"_key, r.function);
  a.optional("file"_key, r.file);
  a.optional("line"_key, r.line);
}

template <typename Archive>
void fields(Archive& a, Ref<Archive, StackRecord> r) {
  a.required("id"_key, r.id);
  a.optional("caller"_key, r.caller);
  a.required("frame"_key, r.frame);
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

}  // namespace rangefinder
