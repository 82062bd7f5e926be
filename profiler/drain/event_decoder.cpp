// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/event_decoder.h"

#include <cstring>

namespace rangefinder {
namespace {

NvtxExtras extras_of(const Event& event, std::span<const std::byte> extra) {
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

}  // namespace

const DriverApi& EventDecoder::api_of(const Event& event) noexcept {
  const auto apis = driver_apis();
  return apis[event.api < apis.size() ? event.api : 0];
}

HostWork EventDecoder::host_of(std::uint32_t thread, const Event& event) const noexcept {
  return {relative(event.start_ns),       relative(event.end_ns), thread, event.path, event.range,
          (event.flags & kInherited) != 0};
}

LaunchRecord EventDecoder::launch(std::uint32_t thread, const Event& event) const {
  LaunchRecord launch;
  launch.host = host_of(thread, event);
  launch.api = api_of(event).name;
  launch.correlation = event.correlation;
  launch.context = event.launch.context;
  launch.result = event.launch.result;
  return launch;
}

RangeRecord EventDecoder::range(std::uint32_t thread, const Event& event,
                                std::span<const std::byte> extra) const {
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
  range.extras = extras_of(event, extra);
  return range;
}

MarkRecord EventDecoder::mark(std::uint32_t thread, const Event& event,
                              std::span<const std::byte> extra) const {
  MarkRecord mark;
  mark.at_ns = relative(event.start_ns);
  mark.thread = thread;
  mark.domain = event.nvtx.domain;
  mark.name = event.nvtx.name;
  mark.path = event.path;
  mark.range = event.range;
  mark.extras = extras_of(event, extra);
  return mark;
}

SyncRecord EventDecoder::sync(std::uint32_t thread, const Event& event) const {
  return {host_of(thread, event), api_of(event).name, event.sync.context, event.sync.stream,
          event.sync.event};
}

AllocRecord EventDecoder::alloc(std::uint32_t thread, const Event& event,
                                std::span<const std::byte> extra) const {
  AllocRecord record;
  record.host = host_of(thread, event);
  record.api = api_of(event).name;
  record.is_free = event.kind == EventKind::free;
  record.kind = static_cast<AllocKind>(event.flags & ~kInherited);
  record.address = event.memory.address;
  record.context = event.memory.context;
  record.stream = event.memory.stream;
  record.bytes = event.memory.bytes;
  if (extra.size() == sizeof(record.pool)) std::memcpy(&record.pool, extra.data(), sizeof(record.pool));
  return record;
}

EventRecord EventDecoder::cuda_event(std::uint32_t thread, const Event& event) const {
  return {host_of(thread, event), event.kind == EventKind::event_wait, event.sync.event, event.sync.stream,
          event.sync.context};
}

CaptureRecord EventDecoder::capture(std::uint32_t thread, const Event& event) const {
  CaptureRecord record;
  record.host = host_of(thread, event);
  record.step = static_cast<CaptureStep>(event.flags & ~kInherited);
  record.stream = event.capture.stream;
  record.context = event.capture.context;
  record.graph = event.capture.graph;
  record.result = event.capture.result;
  if (record.step == CaptureStep::broken_by) record.api = api_of(event).name;
  return record;
}

HoldRecord EventDecoder::hold(std::uint32_t thread, const Event& event) const noexcept {
  return {relative(event.start_ns), relative(event.end_ns), thread, static_cast<HoldCause>(event.flags)};
}

}  // namespace rangefinder
