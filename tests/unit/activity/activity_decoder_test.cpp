// SPDX-License-Identifier: Apache-2.0
//
// Buffers of CUPTI's own structs, iterated by CUPTI itself.
#include "profiler/activity/activity_decoder.h"

#include "tests/catch.h"
#include "tests/unit/activity/activity_buffer.h"
#include "tests/unit/activity/collected.h"
#include "tests/unit/cupti/real_cupti.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

/// The only record of a buffer, decoded.
template <typename Activity>
Collected decoded(const CuptiFunctions& cupti, const Activity& activity) {
  ActivityBuffer buffer;
  buffer.append(activity);
  Collected out;
  const DecodeResult result = decode_activity(cupti, buffer.data(), buffer.bytes(), out);
  CHECK(result.records == 1);
  CHECK(result.unknown == 0);
  CHECK_FALSE(result.corrupt);
  return out;
}

std::string decoded_overhead(const CuptiFunctions& cupti, CUpti_ActivityOverheadKind kind) {
  return std::string(decoded(cupti, overhead(kind, 5, nullptr)).overheads.at(0).what);
}

}  // namespace

TEST_CASE("a kernel keeps its name, place, times and launch configuration") {
  REAL_CUPTI_OR_SKIP(cupti);

  const Collected out = decoded(cupti, kernel("_Z3addPf", 4'000'000'000u));

  REQUIRE(out.kernels.size() == 1);
  const auto& [work, config, name] = out.kernels[0];
  CHECK(out.names[0] == "_Z3addPf");
  CHECK(work.start_ns == 1'000);
  CHECK(work.end_ns == 3'500);
  CHECK(work.gpu == 2);
  CHECK(work.context == 3);
  CHECK(work.stream == 7);
  CHECK(work.correlation == 4'000'000'000u);
  CHECK(work.path == 0);  // only the launch has it
  CHECK(config.grid == Dim3{10, 20, 30});
  CHECK(config.block == Dim3{128, 2, 1});
  CHECK(config.cluster == Dim3{2, 1, 1});
  CHECK(config.registers == 96);
  CHECK(config.static_shared_bytes == 1'024);
  CHECK(config.dynamic_shared_bytes == 65'536);
  CHECK(config.shared_bytes_executed == 102'400);
  CHECK(config.local_bytes_per_thread == 16);
}

TEST_CASE("a kernel launched by a graph has its graph and node") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityKernel10 activity = kernel("k");
  activity.graphId = 4;
  activity.graphNodeId = 0x1'0000'0005;

  const GpuWork work = decoded(cupti, activity).kernels.at(0).work;

  CHECK(work.graph == 4);
  CHECK(work.graph_node == 0x1'0000'0005);
}

TEST_CASE("a serialised kernel is decoded like any other") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityKernel10 activity = kernel("k");
  activity.kind = CUPTI_ACTIVITY_KIND_KERNEL;

  CHECK(decoded(cupti, activity).names == std::vector<std::string>{"k"});
}

TEST_CASE("a kernel without a name has an empty one") {
  REAL_CUPTI_OR_SKIP(cupti);

  CHECK(decoded(cupti, kernel(nullptr)).names == std::vector<std::string>{""});
}

TEST_CASE("if the times are no valid interval, both are dropped") {
  REAL_CUPTI_OR_SKIP(cupti);
  const std::pair<std::uint64_t, std::uint64_t> untimed[] = {
      {0, 0}, {0, 500}, {500, 0}, {500, 499}, {500, UINT64_MAX}, {std::uint64_t{1} << 63, UINT64_MAX}};
  for (const auto& [start_ns, end_ns] : untimed) {
    INFO(start_ns << " to " << end_ns);
    CUpti_ActivityKernel10 activity = kernel("k");
    activity.start = start_ns;
    activity.end = end_ns;

    const GpuWork work = decoded(cupti, activity).kernels.at(0).work;

    CHECK(work.start_ns == kNoTime);
    CHECK(work.end_ns == kNoTime);
  }
}

TEST_CASE("work that took no measurable time keeps its time") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityKernel10 activity = kernel("k");
  activity.start = activity.end = 1'763'712'000'123'456'789;

  const GpuWork work = decoded(cupti, activity).kernels.at(0).work;

  CHECK(work.start_ns == 1'763'712'000'123'456'789);
  CHECK(work.end_ns == work.start_ns);
}

TEST_CASE("a copy keeps direction, memory kinds, bytes and whether it was asynchronous") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityMemcpy6 activity = memcpy_htod(std::uint64_t{5} << 32);
  activity.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  activity.copyCount = 3;

  const MemcpyRecord copy = decoded(cupti, activity).copies.at(0);

  CHECK(copy.kind == CopyKind::HtoD);
  CHECK(copy.source == MemoryKind::pinned);
  CHECK(copy.destination == MemoryKind::device);
  CHECK(copy.bytes == std::uint64_t{5} << 32);
  CHECK(copy.async);
  CHECK(copy.count == 3);
  CHECK(copy.work.start_ns == 2'000);
  CHECK(copy.work.end_ns == 2'100);
  CHECK(copy.work.gpu == 1);
  CHECK(copy.work.stream == 13);
  CHECK(copy.work.correlation == 77);
}

TEST_CASE("a copy outside a batch counts as one, and is synchronous without the flag") {
  REAL_CUPTI_OR_SKIP(cupti);

  const MemcpyRecord copy = decoded(cupti, memcpy_htod(0)).copies.at(0);

  CHECK(copy.count == 1);
  CHECK(copy.bytes == 0);
  CHECK_FALSE(copy.async);
}

TEST_CASE("new directions and memory kinds are unknown") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityMemcpy6 activity = memcpy_htod(1);
  activity.copyKind = activity.srcKind = activity.dstKind = 200;

  const MemcpyRecord copy = decoded(cupti, activity).copies.at(0);

  CHECK(copy.kind == CopyKind::unknown);
  CHECK(copy.source == MemoryKind::unknown);
  CHECK(copy.destination == MemoryKind::unknown);
}

TEST_CASE("a peer copy has both GPUs, including GPU 0") {
  REAL_CUPTI_OR_SKIP(cupti);

  const MemcpyRecord copy = decoded(cupti, memcpy_peer(3, 0)).copies.at(0);

  CHECK(copy.kind == CopyKind::PtoP);
  CHECK(copy.source_gpu == 3);
  CHECK(copy.destination_gpu == 0);
  CHECK(copy.bytes == 4'096);
  CHECK(copy.async);
}

TEST_CASE("a memset keeps value, bytes and memory kind") {
  REAL_CUPTI_OR_SKIP(cupti);

  const MemsetRecord memset = decoded(cupti, memset_of(64)).memsets.at(0);

  CHECK(memset.value == 0xab);
  CHECK(memset.bytes == 64);
  CHECK(memset.memory == MemoryKind::managed);
  CHECK(memset.work.correlation == 79);
}

TEST_CASE("a whole graph keeps its id, and the GPU of its last node if it begins on the host") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityGraphTrace2 activity{};
  activity.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  activity.correlationId = 81;
  activity.start = 100;
  activity.end = 250;
  activity.deviceId = activity.contextId = INT32_MAX;
  activity.endDeviceId = 2;
  activity.endContextId = 4;
  activity.graphId = 9;
  activity.streamId = 13;

  const GraphRecord graph = decoded(cupti, activity).graphs.at(0);

  CHECK(graph.work.correlation == 81);
  CHECK(graph.work.start_ns == 100);
  CHECK(graph.work.end_ns == 250);
  CHECK(graph.work.gpu == 2);
  CHECK(graph.work.context == 4);
  CHECK(graph.work.graph == 9);
  CHECK(graph.work.stream == 13);
  CHECK(graph.work.graph_node == 0);
}

TEST_CASE("a graph that a kernel launched names the graph of that kernel") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityDeviceGraphTrace activity{};
  activity.kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE;
  activity.start = 100;
  activity.end = 250;
  activity.deviceId = 2;
  activity.contextId = 4;
  activity.graphId = 9;
  activity.launcherGraphId = 8;
  activity.streamId = 13;
  activity.deviceLaunchMode = CUPTI_DEVICE_GRAPH_LAUNCH_MODE_FIRE_AND_FORGET;

  const GraphRecord graph = decoded(cupti, activity).graphs.at(0);

  CHECK(graph.work.start_ns == 100);
  CHECK(graph.work.end_ns == 250);
  CHECK(graph.work.gpu == 2);
  CHECK(graph.work.context == 4);
  CHECK(graph.work.graph == 9);
  CHECK(graph.work.stream == 13);
  CHECK(graph.launcher == 8);
  CHECK(graph.device_launch == DeviceLaunch::fire_and_forget);
}

TEST_CASE("an overhead has its kind and thread, and its details reach the receiver") {
  REAL_CUPTI_OR_SKIP(cupti);
  void* const details = std::malloc(16);  // Collected frees it; ASan reports a leak or a double free

  const OverheadRecord lazy =
      decoded(cupti, overhead(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING, 123, details)).overheads.at(0);

  CHECK(lazy.what == "lazy_function_loading");
  CHECK(lazy.thread == 123);
  CHECK(lazy.correlation == 80);
  CHECK(lazy.start_ns == 100);
  CHECK(lazy.end_ns == 200);
}

TEST_CASE("an overhead of a process, not of a thread, has no thread") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityOverhead3 activity = overhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, 123, nullptr);
  activity.objectKind = CUPTI_ACTIVITY_OBJECT_PROCESS;

  CHECK(decoded(cupti, activity).overheads.at(0).thread == 0);
}

TEST_CASE("every overhead kind has its own name, and a new one is unknown") {
  REAL_CUPTI_OR_SKIP(cupti);
  CHECK(decoded_overhead(cupti, CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER) == "driver_compiler");
  CHECK(decoded_overhead(cupti, CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION) == "cupti_instrumentation");
  CHECK(decoded_overhead(cupti, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE) == "cupti_resource");
  CHECK(decoded_overhead(cupti, CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL) == "command_buffer_full");
  CHECK(decoded_overhead(cupti, static_cast<CUpti_ActivityOverheadKind>(0x7fff'0000)) == "unknown");
}

TEST_CASE("contexts and streams keep their identity") {
  REAL_CUPTI_OR_SKIP(cupti);
  CUpti_ActivityContext3 green = context(9, 1);
  green.isGreenContext = 1;
  CUpti_ActivityStream urgent = stream(21, 9);
  urgent.priority = static_cast<std::uint32_t>(-5);
  urgent.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;

  const ContextRecord c = decoded(cupti, green).contexts.at(0);
  const StreamRecord s = decoded(cupti, urgent).streams.at(0);

  CHECK(c.id == 9);
  CHECK(c.gpu == 1);
  CHECK(c.null_stream == 7);
  CHECK(c.green);
  CHECK(s.id == 21);
  CHECK(s.context == 9);
  CHECK(s.priority == -5);
  CHECK(s.non_blocking);
}
