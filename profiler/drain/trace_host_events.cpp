// SPDX-License-Identifier: Apache-2.0
//
// TraceBuilder: events of application threads, from Event to record.
#include <algorithm>
#include <cstring>

#include "profiler/drain/trace_builder.h"
#include "profiler/launch/driver_apis.h"

namespace rangefinder {
namespace {

const DriverApi& api_of(const Event& event) noexcept {
  const auto apis = driver_apis();
  return apis[event.api < apis.size() ? event.api : 0];
}

WorkKind work_kind(ApiClass api) noexcept {
  return static_cast<WorkKind>(api);
}

// Events that monitor mode omits between its windows, without counting them.
bool is_detail(EventKind kind) noexcept {
  return kind == EventKind::mark || kind == EventKind::sync || kind == EventKind::alloc ||
         kind == EventKind::free || kind == EventKind::event_record || kind == EventKind::event_wait;
}

}  // namespace

LaunchRecord TraceBuilder::launch_of(std::uint32_t thread, const Event& event) const {
  LaunchRecord launch;
  launch.host = host_of(thread, event);
  launch.api = api_of(event).name;
  launch.correlation = event.correlation;
  launch.context = event.launch.context;
  launch.result = event.launch.result;
  return launch;
}

void TraceBuilder::on_launch(std::uint32_t thread, const Event& event) {
  const MonitorCycle::Place place = this->place(event);
  const bool launched = event.launch.result == 0;
  if (cycle_ != nullptr && launched) period_.add_launch(event.path, place == MonitorCycle::Place::inside);
  if (place == MonitorCycle::Place::outside) return;
  // Before the launch's line is written, as in on_exact().
  if (launched) expect_work_of(event, place == MonitorCycle::Place::edge);
  writer_.write(launch_of(thread, event));
}

void TraceBuilder::expect_work_of(const Event& event, bool at_edge) {
  const ApiClass kind = api_of(event).kind;
  // A copy or memset of 0 bytes has no record, and neither has a launch that was only captured.
  const bool is_copy = kind == ApiClass::memcpy || kind == ApiClass::memset;
  const bool expect_record =
      (event.flags & kLaunchWhileCapturing) == 0 && !(is_copy && event.launch.bytes == 0);
  note_launch(event.correlation);
  const LaunchOrigin origin{event.path, event.range, event.launch.kernel};
  if (at_edge) return launches_.put_at_edge(event.correlation, work_kind(kind), origin);
  launches_.put(event.correlation, work_kind(kind), origin, expect_record);
}

NvtxExtras TraceBuilder::extras_of(const Event& event, std::span<const std::byte> extra) const {
  NvtxExtras extras;
  extras.category = event.nvtx.category;
  extras.color = event.color;
  extras.payload_type = static_cast<PayloadType>(event.payload_type);
  extras.payload = event.nvtx.payload;
  if (extra.size() >= sizeof(extras.payload_schema)) {
    std::memcpy(&extras.payload_schema, extra.data(), sizeof(extras.payload_schema));
    const auto data = extra.subspan(sizeof(extras.payload_schema));
    extras.payload_data.resize(data.size());
    if (!data.empty()) std::memcpy(extras.payload_data.data(), data.data(), data.size());
  }
  return extras;
}

void TraceBuilder::on_range(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  RangeRecord range;
  range.id = event.range;
  range.start_ns = relative(event.start_ns);
  range.end_ns = relative(event.end_ns);
  range.thread = thread;
  range.domain = event.nvtx.domain;
  range.path = event.path;
  if (event.kind == EventKind::range_start_end) {
    range.name = event.nvtx.name;
    range.thread = event.nvtx.start_thread;  // the event is in the ring of the thread that ended the range
    if (event.end_ns != kNoTime) range.end_thread = thread;
  }
  if (cycle_ != nullptr && event.end_ns != kNoTime && event.end_ns >= event.start_ns)
    period_.add_range(range.path, static_cast<std::uint64_t>(event.end_ns - event.start_ns));
  if (place(event) == MonitorCycle::Place::outside) return;
  range.extras = extras_of(event, extra);
  add_path(range.path);
  writer_.write(range);
  totals_.add(range);
}

void TraceBuilder::on_mark(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  MarkRecord mark;
  mark.at_ns = relative(event.start_ns);
  mark.thread = thread;
  mark.domain = event.nvtx.domain;
  mark.name = event.nvtx.name;
  mark.path = event.path;
  mark.range = event.range;
  mark.extras = extras_of(event, extra);
  writer_.write(mark);
}

void TraceBuilder::on_sync(std::uint32_t thread, const Event& event) {
  writer_.write(SyncRecord{host_of(thread, event), api_of(event).name, event.sync.context, event.sync.stream,
                           event.sync.event});
}

void TraceBuilder::on_alloc(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  AllocRecord record;
  record.host = host_of(thread, event);
  record.api = api_of(event).name;
  record.is_free = event.kind == EventKind::free;
  record.kind = static_cast<AllocKind>(event.flags);
  record.address = event.memory.address;
  record.context = event.memory.context;
  record.stream = event.memory.stream;
  record.bytes = event.memory.bytes;
  if (extra.size() == sizeof(record.pool)) std::memcpy(&record.pool, extra.data(), sizeof(record.pool));
  writer_.write(record);
}

void TraceBuilder::on_cuda_event(std::uint32_t thread, const Event& event) {
  writer_.write(EventRecord{host_of(thread, event), event.kind == EventKind::event_wait, event.sync.event,
                            event.sync.stream, event.sync.context});
}

void TraceBuilder::on_capture(std::uint32_t thread, const Event& event) {
  CaptureRecord record;
  record.host = host_of(thread, event);
  record.step = static_cast<CaptureStep>(event.flags);
  record.stream = event.capture.stream;
  record.context = event.capture.context;
  record.graph = event.capture.graph;
  record.result = event.capture.result;
  writer_.write(record);
}

void TraceBuilder::on_category(const Event& event) {
  const CategoryRecord category{event.nvtx.domain, event.nvtx.category,
                                std::string(recorder_.names.text(event.nvtx.name))};
  writer_.add_category(category);
  totals_.add_category(category);
}

void TraceBuilder::on_payload_schema(const Event& event) {
  writer_.add_payload_schema(
      {event.schema.id, event.schema.domain, std::string(recorder_.names.text(event.schema.definition))});
}

void TraceBuilder::on_event(std::uint32_t thread, const Event& event, std::span<const std::byte> extra) {
  if (is_detail(event.kind) && place(event) == MonitorCycle::Place::outside) return;
  switch (event.kind) {
    case EventKind::launch:
      return on_launch(thread, event);
    case EventKind::range:
    case EventKind::range_start_end:
      return on_range(thread, event, extra);
    case EventKind::mark:
      return on_mark(thread, event, extra);
    case EventKind::sync:
      return on_sync(thread, event);
    case EventKind::alloc:
    case EventKind::free:
      return on_alloc(thread, event, extra);
    case EventKind::event_record:
    case EventKind::event_wait:
      return on_cuda_event(thread, event);
    case EventKind::capture:
      return on_capture(thread, event);
    case EventKind::thread_name:
      return writer_.name_thread(event.thread.id, std::string(recorder_.names.text(event.thread.name)));
    case EventKind::category_name:
      return on_category(event);
    case EventKind::payload_schema:
      return on_payload_schema(event);
    case EventKind::graph_node:
      return graph_nodes_.add(event.graph.node, event.graph.original,
                              {event.path, event.range, event.graph.kernel});
    case EventKind::none:
      return;
  }
}

}  // namespace rangefinder
