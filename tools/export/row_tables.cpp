// SPDX-License-Identifier: Apache-2.0
#include "tools/export/row_tables.h"

#include <sstream>

namespace rangefinder {
namespace {

/// "gpu=deviceId duration_ns= =globalPid bytes": a word per column, the name in CSV before '=', the one in
/// SQLite after it. Without '=' they are equal.
std::vector<RowColumn> columns(const std::string& text) {
  std::vector<RowColumn> out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    const bool equal = equals == std::string::npos;
    out.push_back({word.substr(0, equals), equal ? word : word.substr(equals + 1)});
  }
  return out;
}

const std::string kSpan = "start_ns=start end_ns=end duration_ns= ";
const std::string kWork = kSpan +
                          "gpu=deviceId context=contextId stream=streamId correlation=correlationId module= "
                          "=pathId range=rangeId graph=graphId graph_node=graphNodeId captured =globalPid ";
const std::string kHost = kSpan + "thread=globalTid module= =pathId range=rangeId ";
const std::string kExtras =
    "category= =category color payload= =uint64Value =int64Value =doubleValue =uint32Value =int32Value "
    "=floatValue payload_type= ";

using Id = RowTable;
// clang-format off
const std::vector<RowTableShape> kTables{
    {Id::traces, "traces", "", columns(
     "host pid parent_pid rank executable command base_unix_ns last_ns tool_version driver_version driver_release "
     "runtime_version cupti_version counters counters_reason end_reason")},
    {Id::gpus, "gpus", "TARGET_INFO_GPU", columns(
     "gpu=id name uuid compute_capability= =computeMajor =computeMinor sm_count=smCount memory_bytes=totalMemory "
     "l2_bytes=l2CacheSize peak_dram_bytes_per_s= =memoryBandwidth sm_clock_khz= =clockRate memory_clock_khz= mig=")},
    {Id::threads, "threads", "ThreadNames", columns("thread=globalTid name=nameId =priority")},
    {Id::streams, "streams", "TARGET_INFO_CUDA_STREAM", columns(
     "context=contextId stream=streamId gpu= priority non_blocking= is_default= =flag")},
    {Id::modules, "modules", "paths", columns(
     "path=id parent_path= =parent depth name domain module=path class_source=classSource call_source=callSource")},
    {Id::kernels, "kernels", "CUPTI_ACTIVITY_KIND_KERNEL", columns(kWork +
     "kernel=demangledName =shortName =mangledName library=libraryId grid_x=gridX grid_y=gridY grid_z=gridZ "
     "block_x=blockX block_y=blockY block_z=blockZ registers_per_thread=registersPerThread "
     "static_shared_bytes=staticSharedMemory dynamic_shared_bytes=dynamicSharedMemory =sharedMemoryExecuted "
     "local_bytes_per_thread=localMemoryPerThread")},
    {Id::memcpys, "memcpys", "CUPTI_ACTIVITY_KIND_MEMCPY", columns(kWork +
     "direction=copyKind source=srcKind destination=dstKind bytes async=isAsync copies=copyCount "
     "source_gpu=srcDeviceId destination_gpu=dstDeviceId")},
    {Id::memsets, "memsets", "CUPTI_ACTIVITY_KIND_MEMSET", columns(kWork + "memory=memKind bytes value")},
    {Id::graphs, "graphs", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", columns(kWork)},
    {Id::launches, "launches", "CUPTI_ACTIVITY_KIND_RUNTIME", columns(kHost +
     "api=nameId correlation=correlationId context= result=returnValue exact=")},
    {Id::exact, "exact", "exact", columns(
     "start_ns= end_ns= thread= module= =pathId range=rangeId kind correlation= =correlationId "
     "counter_range=counterRange gpu=deviceId kernel= launches kernels exclusive=isExclusive gpu_ns=gpuNs "
     "dram_read_bytes=dramReadBytes dram_write_bytes=dramWriteBytes l2_bytes=l2Bytes metric_set=metricSet unmeasured")},
    {Id::metrics, "metrics", "metrics", columns(
     "correlation= =correlationId counter_range=counterRange metric_set=metricSet metric=metricId value")},
    {Id::syncs, "syncs", "syncs", columns(kHost + "api=nameId context=contextId stream=streamId event")},
    {Id::allocations, "allocations", "allocations", columns(kHost +
     "api=nameId operation= =isFree memory address bytes context=contextId stream=streamId pool")},
    {Id::events, "events", "events", columns(kHost +
     "operation= =isWait event stream=streamId context=contextId")},
    {Id::captures, "captures", "captures", columns(kHost + "step stream=streamId context=contextId graph result")},
    {Id::overhead, "overhead", "PROFILER_OVERHEAD", columns(kSpan +
     "thread=globalTid what=nameId correlation=correlationId")},
    {Id::holds, "holds", "holds", columns(kSpan + "thread=globalTid cause")},
    {Id::gaps, "gaps", "gaps", columns(kSpan + "cause")},
    {Id::ranges, "ranges", "NVTX_EVENTS", columns("range=rangeId " + kSpan +
     "kind= =eventType thread=globalTid end_thread=endGlobalTid domain= =domainId name=text =textId module= =pathId " +
     kExtras)},
    {Id::marks, "marks", "NVTX_EVENTS", columns(
     "at_ns=start =eventType thread=globalTid domain= =domainId name=text =textId module= =pathId "
     "range=insideRangeId " + kExtras)},
    {Id::samples, "samples", "samples", columns(
     "gpu=deviceId start_ns=start end_ns=end dram_read_bytes=dramReadBytes dram_write_bytes=dramWriteBytes "
     "l2_bytes=l2Bytes pcie_read_bytes=pcieReadBytes pcie_write_bytes=pcieWriteBytes "
     "nvlink_received_bytes=nvlinkReceivedBytes nvlink_transmitted_bytes=nvlinkTransmittedBytes "
     "sm_active_pct=smActivePct engine_active_pct=engineActivePct")},
    {Id::conditions, "conditions", "conditions", columns(
     "at_ns=at gpu=deviceId thread=globalTid condition value")},
    {Id::frames, "frames", "frames", columns("frame=id function file line")},
    {Id::stacks, "stacks", "stacks", columns("stack=id caller frame function=")},
    {Id::stack_samples, "stack_samples", "stack_samples", columns(
     "thread=globalTid at_ns=at stack=stackId interval_ns=intervalNs")},
    {Id::loss, "loss", "loss", columns("cause count meaning")},
    {Id::contexts, "", "TARGET_INFO_CUDA_CONTEXT_INFO", columns("contextId deviceId nullStreamId")},
    // Calls that launch nothing; CSV has them in syncs, allocations, events and captures only.
    {Id::calls, "", "CUPTI_ACTIVITY_KIND_RUNTIME", columns(kHost + "nameId returnValue")},
    {Id::nvtx_names, "", "NVTX_EVENTS", columns("eventType domainId category text textId globalTid")},
};
// clang-format on

}  // namespace

const std::vector<RowTableShape>& row_tables() {
  return kTables;
}

}  // namespace rangefinder
