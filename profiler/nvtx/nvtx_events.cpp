// SPDX-License-Identifier: Apache-2.0
//
// Marks and start/end ranges of all handlers.
#include "profiler/events/recorder.h"
#include "profiler/nvtx/module_sources.h"
#include "profiler/nvtx/nvtx.h"
#include "profiler/nvtx/nvtx_handlers.h"
#include "profiler/nvtx/open_ranges.h"

namespace rangefinder {

std::uint32_t intern_text(ThreadState& state, const EventText& text) noexcept {
  return text.name != 0 ? text.name : state.name_of(text.text);
}

void mark(ThreadState& state, std::uint32_t domain, const EventText& text,
          const NvtxAttributes& attributes) noexcept {
  if (is_source_domain(domain)) return record_source(state, text.text);
  Event event;
  event.kind = EventKind::mark;
  event.start_ns = event.end_ns = recorder().clock.now_ns();
  event.payload_type = static_cast<std::uint8_t>(attributes.payload_type);
  event.color = attributes.color;
  state.locate(event);
  event.nvtx.payload = attributes.payload;
  event.nvtx.name = intern_text(state, text);
  event.nvtx.domain = domain;
  event.nvtx.category = attributes.category;
  if (attributes.extended == nullptr) return state.emit(event);
  state.emit_extended(event, *attributes.extended);
}

std::uint64_t start_range(const ThreadUse& state, std::uint32_t domain, const EventText& text,
                          const NvtxAttributes& attributes, std::uint64_t chained_id) noexcept {
  if (!state) return chained_id;
  StartedRange range;
  range.id = state->next_range_id();
  range.key = chained_id != 0 ? chained_id : range.id;
  range.payload = attributes.payload;
  range.payload_type = attributes.payload_type;
  range.path = state->place().path;
  range.name = intern_text(*state, text);
  range.domain = domain;
  range.category = attributes.category;
  range.color = attributes.color;
  range.thread = state->thread();
  range.start_ns = recorder().clock.now_ns();
  LossLedger& loss = recorder().loss;
  if (attributes.extended != nullptr && !open_ranges().keep_payload(range, *attributes.extended)) {
    loss.add(Loss::payloads_truncated);
  }
  if (!open_ranges().add(range)) loss.add(Loss::nvtx_open_table_full);
  return range.key;
}

namespace {

Event event_of(const StartedRange& range, std::int64_t end_ns) noexcept {
  Event event;
  event.kind = EventKind::range_start_end;
  event.payload_type = static_cast<std::uint8_t>(range.payload_type);
  event.color = range.color;
  event.path = range.path;
  event.range = range.id;
  event.start_ns = range.start_ns;
  event.end_ns = end_ns;
  event.nvtx.payload = range.payload;
  event.nvtx.name = range.name;
  event.nvtx.start_thread = range.thread;
  event.nvtx.domain = range.domain;
  event.nvtx.category = range.category;
  return event;
}

}  // namespace

void end_range(std::uint64_t id, const NvtxPayload* extended) noexcept {
  // 0 is the id of a range whose start could not be recorded.
  Recorder& own = recorder();
  if (id == 0 || own.silent.load(std::memory_order_relaxed)) return;
  const std::int64_t now_ns = recorder().clock.now_ns();
  StartedRange range;
  if (!open_ranges().take(id, range)) return own.loss.add(Loss::nvtx_end_unknown);
  const Event event = event_of(range, now_ns);
  const NvtxPayload kept{range.extended_schema, range.extended, range.extended_bytes};
  if (range.extended != nullptr && extended != nullptr) own.loss.add(Loss::payloads_truncated);
  if (range.extended != nullptr) extended = &kept;
  const ThreadUse state = own.threads.use();
  if (!state) {
    if (!state.refused()) own.loss.add(Loss::events_dropped);
  } else if (extended == nullptr) {
    state->emit(event);
  } else {
    state->emit_extended(event, *extended);
  }
  open_ranges().free_payload(range);
}

std::size_t nvtx_close_all(std::int64_t now_ns) noexcept {
  Recorder& own = recorder();
  ThreadState* any = nullptr;
  own.threads.for_each([&any](ThreadState& state) { any = any == nullptr ? &state : any; });
  std::size_t closed = 0;
  const bool all = open_ranges().for_each([&](const StartedRange& range) {
    if (any == nullptr || range.start_ns > now_ns) return;
    Event event = event_of(range, kNoTime);
    event.flags = kRangeUnclosed;
    try {
      any->ring().add_late(event);
      ++closed;
    } catch (...) {
      own.loss.add(Loss::record_sink_errors);
    }
  });
  if (!all) own.loss.add(Loss::record_sink_errors);
  own.loss.add(Loss::nvtx_unclosed, closed);
  return closed;
}

}  // namespace rangefinder
