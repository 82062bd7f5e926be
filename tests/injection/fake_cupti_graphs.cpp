// SPDX-License-Identifier: Apache-2.0
//
// The fake CUPTI's records of graphs: one for a whole launch. Nodes have records too, but no times once the
// device memory for times is used up, as in CUPTI 13.0.
//
//   FAKE_CUPTI_NODES    number of graph nodes with times, until kernel records are disabled and enabled again
#include <atomic>
#include <map>
#include <mutex>

#include "tests/injection/fake_cupti.h"

namespace fake {
namespace {

std::atomic<std::int64_t> nodes_with_times{0};
std::mutex mutex;
std::atomic<bool> records_device_graphs{false};
auto* const starts = new std::map<std::uint32_t, std::int64_t>;  // guarded by mutex; by correlation

}  // namespace

bool node_has_times() {
  static const std::int64_t most = number_from("FAKE_CUPTI_NODES", 0);
  return most == 0 || ++nodes_with_times <= most;
}

void node_records_disabled() {
  nodes_with_times = 0;
}

CUpti_ActivityGraphTrace2 whole_graph(const Work& work) {
  CUpti_ActivityGraphTrace2 record{};
  const std::lock_guard guard(mutex);
  const std::int64_t start_ns = starts->try_emplace(work.correlation, work.start_ns).first->second;
  if (!work.last_of_graph) return record;
  starts->erase(work.correlation);
  record.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  record.correlationId = work.correlation;
  record.start = static_cast<std::uint64_t>(start_ns);
  record.end = static_cast<std::uint64_t>(work.end_ns);
  record.deviceId = record.endDeviceId = work.context->gpu;
  record.contextId = record.endContextId = work.context->id;
  record.streamId = work.stream;
  record.graphId = static_cast<std::uint32_t>(work.graph_node >> 32);
  return record;
}

std::vector<CUpti_ActivityDeviceGraphTrace> device_graphs(const CUpti_ActivityGraphTrace2& by) {
  constexpr std::uint32_t kFirst = 1'000'000;
  static const auto count = static_cast<std::uint32_t>(number_from("FAKE_CUPTI_DEVICE_GRAPHS", 0));
  std::vector<CUpti_ActivityDeviceGraphTrace> records;
  for (std::uint32_t i = 0; records_device_graphs && i < count; ++i) {
    CUpti_ActivityDeviceGraphTrace record{};
    record.kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE;
    record.deviceId = by.deviceId;
    record.contextId = by.contextId;
    record.streamId = by.streamId;
    record.start = by.end + 1000 * i;
    record.end = record.start + 500;
    record.graphId = kFirst + by.graphId + i;
    record.launcherGraphId = i == 0 ? by.graphId : record.graphId - 1;
    record.deviceLaunchMode = CUPTI_DEVICE_GRAPH_LAUNCH_MODE_TAIL;
    records.push_back(record);
  }
  return records;
}

}  // namespace fake

FAKE_EXPORT CUptiResult cuptiActivityEnableDeviceGraph(std::uint8_t enable) {
  FAKE_BEGIN(ActivityEnableDeviceGraph, nothing);
  fake::records_device_graphs = enable != 0;
  return CUPTI_SUCCESS;
}
