// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity/activity_decoder.h"

#include <cstring>

#include "profiler/cupti/host_function_records.h"

namespace rangefinder {
namespace {

/// The raw value of an enumeration that CUPTI wrote at `offset`. It may be unknown to this header; loading
/// it as the enumeration would then be undefined behaviour.
template <typename Activity>
std::uint32_t number_at(const Activity& a, std::size_t offset) noexcept {
  std::uint32_t number = 0;
  std::memcpy(&number, reinterpret_cast<const char*>(&a) + offset, sizeof(number));
  return number;
}

/// Sets both times or neither. CUPTI writes 0 if it could not time the work. An interval that ends before
/// it begins, or does not fit in 63 bits, is invalid.
template <typename Record>
void set_times(std::uint64_t start_ns, std::uint64_t end_ns, Record& record) noexcept {
  if (start_ns == 0 || end_ns < start_ns || end_ns > INT64_MAX) return;
  record.start_ns = static_cast<TimeNs>(start_ns);
  record.end_ns = static_cast<TimeNs>(end_ns);
}

/// The fields that records of GPU work have under the same names; some kinds are never of a graph.
template <typename Activity>
GpuWork work_of(const Activity& a) noexcept {
  GpuWork work;
  set_times(a.start, a.end, work);
  work.gpu = a.deviceId;
  work.context = a.contextId;
  work.stream = a.streamId;
  work.correlation = a.correlationId;
  if constexpr (requires { a.graphNodeId; }) {
    work.graph = a.graphId;
    work.graph_node = a.graphNodeId;
  }
  return work;
}

CopyKind copy_kind(std::uint8_t kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      return CopyKind::HtoD;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return CopyKind::DtoH;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOD:
      return CopyKind::DtoD;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOH:
      return CopyKind::HtoH;
    case CUPTI_ACTIVITY_MEMCPY_KIND_PTOP:
      return CopyKind::PtoP;
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
      return CopyKind::HtoA;
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
      return CopyKind::AtoH;
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOA:
      return CopyKind::AtoA;
    case CUPTI_ACTIVITY_MEMCPY_KIND_ATOD:
      return CopyKind::AtoD;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOA:
      return CopyKind::DtoA;
    default:
      return CopyKind::unknown;
  }
}

MemoryKind memory_kind(std::uint32_t kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE:
      return MemoryKind::pageable;
    case CUPTI_ACTIVITY_MEMORY_KIND_PINNED:
      return MemoryKind::pinned;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE:
      return MemoryKind::device;
    case CUPTI_ACTIVITY_MEMORY_KIND_ARRAY:
      return MemoryKind::array;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED:
      return MemoryKind::managed;
    case CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC:
      return MemoryKind::device_static;
    case CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC:
      return MemoryKind::managed_static;
    default:
      return MemoryKind::unknown;
  }
}

std::string_view overhead_kind(std::uint32_t kind) noexcept {
  switch (kind) {
    case CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER:
      return "driver_compiler";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH:
      return "cupti_buffer_flush";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION:
      return "cupti_instrumentation";
    case CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE:
      return "cupti_resource";
    case CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING:
      return "module_loading";
    case CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING:
      return "lazy_function_loading";
    case CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL:
      return "command_buffer_full";
    case CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST:
      return "activity_buffer_request";
    case CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT:
      return "uvm_activity_init";
    default:
      return "unknown";
  }
}

std::uint32_t positive(std::int32_t value) noexcept {
  return value > 0 ? static_cast<std::uint32_t>(value) : 0;
}

void decode_kernel(const CUpti_ActivityKernel10& a, RecordSink& sink) {
  KernelActivity kernel;
  kernel.work = work_of(a);
  kernel.config.grid = {positive(a.gridX), positive(a.gridY), positive(a.gridZ)};
  kernel.config.block = {positive(a.blockX), positive(a.blockY), positive(a.blockZ)};
  kernel.config.cluster = {a.clusterX, a.clusterY, a.clusterZ};
  kernel.config.registers = a.registersPerThread;
  kernel.config.static_shared_bytes = positive(a.staticSharedMemory);
  kernel.config.dynamic_shared_bytes = positive(a.dynamicSharedMemory);
  kernel.config.shared_bytes_executed = a.sharedMemoryExecuted;
  kernel.config.local_bytes_per_thread = a.localMemoryPerThread;
  if (a.name != nullptr) kernel.name = a.name;
  sink.on_kernel(kernel);
}

void decode_memcpy(const CUpti_ActivityMemcpy6& a, RecordSink& sink) {
  MemcpyRecord copy;
  copy.work = work_of(a);
  copy.kind = copy_kind(a.copyKind);
  copy.source = memory_kind(a.srcKind);
  copy.destination = memory_kind(a.dstKind);
  copy.bytes = a.bytes;
  copy.async = (a.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
  copy.count = a.copyCount == 0 ? 1 : a.copyCount;
  sink.on_memcpy(copy);
}

void decode_peer_memcpy(const CUpti_ActivityMemcpyPtoP4& a, RecordSink& sink) {
  MemcpyRecord copy;
  copy.work = work_of(a);
  copy.kind = CopyKind::PtoP;
  copy.source = memory_kind(a.srcKind);
  copy.destination = memory_kind(a.dstKind);
  copy.bytes = a.bytes;
  copy.async = (a.flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) != 0;
  copy.source_gpu = a.srcDeviceId;
  copy.destination_gpu = a.dstDeviceId;
  sink.on_memcpy(copy);
}

void decode_memset(const CUpti_ActivityMemset4& a, RecordSink& sink) {
  MemsetRecord memset;
  memset.work = work_of(a);
  memset.value = a.value;
  memset.bytes = a.bytes;
  memset.memory = memory_kind(a.memoryKind);
  sink.on_memset(memset);
}

void decode_graph(const CUpti_ActivityGraphTrace2& a, RecordSink& sink) {
  constexpr std::uint32_t kOnHost = INT32_MAX;  // the first node runs on the host
  GraphRecord graph;
  set_times(a.start, a.end, graph.work);
  graph.work.gpu = a.deviceId == kOnHost ? a.endDeviceId : a.deviceId;
  graph.work.context = a.contextId == kOnHost ? a.endContextId : a.contextId;
  graph.work.stream = a.streamId;
  graph.work.correlation = a.correlationId;
  graph.work.graph = a.graphId;
  sink.on_graph(graph);
}

DeviceLaunch device_launch(std::uint32_t mode) noexcept {
  switch (mode) {
    case CUPTI_DEVICE_GRAPH_LAUNCH_MODE_FIRE_AND_FORGET:
      return DeviceLaunch::fire_and_forget;
    case CUPTI_DEVICE_GRAPH_LAUNCH_MODE_TAIL:
      return DeviceLaunch::tail;
    case CUPTI_DEVICE_GRAPH_LAUNCH_MODE_FIRE_AND_FORGET_AS_SIBLING:
      return DeviceLaunch::sibling;
    default:
      return DeviceLaunch::unknown;
  }
}

void decode_device_graph(const CUpti_ActivityDeviceGraphTrace& a, RecordSink& sink) {
  GraphRecord graph;
  set_times(a.start, a.end, graph.work);
  graph.work.gpu = a.deviceId;
  graph.work.context = a.contextId;
  graph.work.stream = static_cast<std::uint32_t>(a.streamId);
  graph.work.graph = a.graphId;
  graph.launcher = a.launcherGraphId;
  graph.device_launch = device_launch(a.deviceLaunchMode);
  sink.on_graph(graph);
}

template <typename Activity>
void decode_host_function(const Activity& a, RecordSink& sink) {
  sink.on_host_function({work_of(a), a.threadId});
}

void decode_overhead(const CUpti_ActivityOverhead3& a, RecordSink& sink) {
  OverheadRecord overhead;
  set_times(a.start, a.end, overhead);
  overhead.what = overhead_kind(number_at(a, offsetof(CUpti_ActivityOverhead3, overheadKind)));
  const bool of_thread =
      number_at(a, offsetof(CUpti_ActivityOverhead3, objectKind)) == CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.thread = of_thread ? a.objectId.pt.threadId : 0;
  overhead.correlation = a.correlationId;
  sink.on_overhead(overhead, a.overheadData);
}

void decode_context(const CUpti_ActivityContext3& a, RecordSink& sink) {
  ContextRecord context;
  context.id = a.contextId;
  context.gpu = a.deviceId;
  context.null_stream = a.nullStreamId;
  context.green = a.isGreenContext != 0;
  sink.on_context(context);
}

void decode_stream(const CUpti_ActivityStream& a, RecordSink& sink) {
  StreamRecord stream;
  stream.id = a.streamId;
  stream.context = a.contextId;
  stream.priority = static_cast<std::int32_t>(a.priority);
  stream.non_blocking =
      number_at(a, offsetof(CUpti_ActivityStream, flag)) == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  sink.on_stream(stream);
}

template <typename Activity>
const Activity& as(const CUpti_Activity* record) noexcept {
  return *reinterpret_cast<const Activity*>(record);
}

bool decode_record(const CUpti_Activity* record, RecordSink& sink) {
  switch (number_at(*record, offsetof(CUpti_Activity, kind))) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      decode_kernel(as<CUpti_ActivityKernel10>(record), sink);
      return true;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      decode_memcpy(as<CUpti_ActivityMemcpy6>(record), sink);
      return true;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      decode_peer_memcpy(as<CUpti_ActivityMemcpyPtoP4>(record), sink);
      return true;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      decode_memset(as<CUpti_ActivityMemset4>(record), sink);
      return true;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      decode_graph(as<CUpti_ActivityGraphTrace2>(record), sink);
      return true;
    case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE:
      decode_device_graph(as<CUpti_ActivityDeviceGraphTrace>(record), sink);
      return true;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      decode_overhead(as<CUpti_ActivityOverhead3>(record), sink);
      return true;
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      decode_context(as<CUpti_ActivityContext3>(record), sink);
      return true;
    case CUPTI_ACTIVITY_KIND_STREAM:
      decode_stream(as<CUpti_ActivityStream>(record), sink);
      return true;
    case kGraphHostNodeKind:
      decode_host_function(as<GraphHostNodeActivity>(record), sink);
      return true;
    case kHostLaunchKind:
      decode_host_function(as<HostLaunchActivity>(record), sink);
      return true;
    default:
      return false;
  }
}

}  // namespace

DecodeResult decode_activity(const CuptiFunctions& cupti, std::uint8_t* data, std::size_t valid_bytes,
                             RecordSink& sink) {
  DecodeResult result;
  CUpti_Activity* record = nullptr;
  while (true) {
    const CUptiResult status = cupti.ActivityGetNextRecord(data, valid_bytes, &record);
    if (status == CUPTI_ERROR_MAX_LIMIT_REACHED) break;  // the end of the buffer
    if (status != CUPTI_SUCCESS || record == nullptr) {
      result.corrupt = true;
      break;
    }
    ++result.records;
    if (!decode_record(record, sink)) ++result.unknown;
  }
  return result;
}

}  // namespace rangefinder
