// SPDX-License-Identifier: Apache-2.0
//
// Events of application threads, from event to line.
#include <cstdlib>

#include "profiler/drain/trace_builder.h"
#include "profiler/events/hold_scope.h"
#include "tests/catch.h"
#include "tests/unit/drain/built_trace.h"

using namespace rangefinder;
using namespace rangefinder::test;

namespace {

Event range_event(std::uint64_t id, std::uint32_t path) {
  Event event;
  event.kind = EventKind::range;
  event.range = id;
  event.path = path;
  event.start_ns = kBase + 100;
  event.end_ns = kBase + 900;
  return event;
}

Event start_end_event(std::uint64_t id, std::uint32_t name, std::uint32_t start_thread) {
  Event event = range_event(id, 0);
  event.kind = EventKind::range_start_end;
  event.nvtx.name = name;
  event.nvtx.start_thread = start_thread;
  return event;
}

Event category_event(std::uint32_t name, std::uint32_t domain, std::uint32_t category) {
  Event event;
  event.kind = EventKind::category_name;
  event.nvtx.name = name;
  event.nvtx.domain = domain;
  event.nvtx.category = category;
  return event;
}

}  // namespace

TEST_CASE("a push/pop range has its path and its thread") {
  BuiltTrace trace;
  Event event = range_event(9, trace.layer);
  event.nvtx.category = 4;
  event.color = 0xff00ff00;
  event.payload_type = static_cast<std::uint8_t>(PayloadType::i64);
  event.nvtx.payload = static_cast<std::uint64_t>(-3);

  trace.event(event);

  const RangeRecord range = trace.read().only<RangeRecord>();
  CHECK(range.id == 9);
  CHECK(range.start_ns == 100);
  CHECK(range.end_ns == 900);
  CHECK(range.thread == kThread);
  CHECK(range.end_thread == 0);
  CHECK(range.path == trace.layer);
  CHECK(range.name == 0);
  CHECK(range.extras.category == 4);
  CHECK(range.extras.color == 0xff00ff00);
  CHECK(range.extras.payload_type == PayloadType::i64);
  CHECK(range.extras.payload == static_cast<std::uint64_t>(-3));
}

TEST_CASE("a start/end range has the thread that began it and the one that ended it") {
  BuiltTrace trace;

  trace.event(start_end_event(9, trace.name("request"), 111));

  const WrittenTrace written = trace.read();
  const RangeRecord range = written.only<RangeRecord>();
  CHECK(range.thread == 111);
  CHECK(range.end_thread == kThread);
  CHECK(range.path == 0);
  CHECK(written.only<NameRecord>().text == "request");
  CHECK(range.name == written.only<NameRecord>().id);
}

TEST_CASE("a range that was never closed has no end and no end thread") {
  BuiltTrace trace;
  Event open = start_end_event(9, trace.name("request"), 111);
  open.flags = kRangeUnclosed;
  open.end_ns = kNoTime;

  trace.event(open);

  const RangeRecord range = trace.read().only<RangeRecord>();
  CHECK(range.end_ns == kNoTime);
  CHECK(range.thread == 111);
  CHECK(range.end_thread == 0);
}

TEST_CASE("an extended payload is its schema and its bytes") {
  BuiltTrace trace;
  std::vector<std::byte> extra(8 + 3);
  const std::uint64_t schema = 77;
  std::memcpy(extra.data(), &schema, sizeof(schema));
  extra[8] = std::byte{1}, extra[9] = std::byte{0}, extra[10] = std::byte{0xff};

  trace.event(range_event(9, trace.layer), extra);

  const NvtxExtras extras = trace.read().only<RangeRecord>().extras;
  CHECK(extras.payload_schema == 77);
  CHECK(extras.payload_data == std::vector<std::uint8_t>{1, 0, 255});
}

TEST_CASE("a mark has one time and the path that was open") {
  BuiltTrace trace;
  Event event = range_event(31, trace.model);
  event.kind = EventKind::mark;
  event.nvtx.name = trace.name("epoch");

  trace.event(event);

  const MarkRecord mark = trace.read().only<MarkRecord>();
  CHECK(mark.at_ns == 100);
  CHECK(mark.thread == kThread);
  CHECK(mark.path == trace.model);
  CHECK(mark.range == 31);
}

TEST_CASE("an allocation from a pool has the pool of its extra slot") {
  BuiltTrace trace;
  Event event = call(EventKind::alloc, "cuMemAllocFromPoolAsync", trace.model, 5);
  event.flags = static_cast<std::uint8_t>(AllocKind::pool);
  event.memory.address = 0x7f00'0000'0000;
  event.memory.bytes = 4096;
  event.memory.stream = 13;
  const std::uint64_t pool = 0x5555'0000'1111;
  std::byte extra[sizeof(pool)];
  std::memcpy(extra, &pool, sizeof(pool));

  trace.event(event, extra);

  const WrittenTrace written = trace.read();
  const AllocRecord alloc = written.only<AllocRecord>();
  CHECK(alloc.api == "cuMemAllocFromPoolAsync");
  CHECK_FALSE(alloc.is_free);
  CHECK(alloc.kind == AllocKind::pool);
  CHECK(alloc.address == 0x7f00'0000'0000);
  CHECK(alloc.bytes == 4096);
  CHECK(alloc.stream == 13);
  CHECK(alloc.context == 1);
  CHECK(alloc.pool == pool);
  CHECK(alloc.host.path == trace.model);
}

TEST_CASE("a free is marked as one, and has no bytes and no pool") {
  BuiltTrace trace;
  Event event = call(EventKind::free, "cuMemFree");
  event.memory.address = 0x1000;

  trace.event(event);

  const AllocRecord freed = trace.read().only<AllocRecord>();
  CHECK(freed.is_free);
  CHECK(freed.kind == AllocKind::device);
  CHECK(freed.address == 0x1000);
  CHECK(freed.pool == 0);
}

TEST_CASE("synchronisations, events and captures keep their handles and streams") {
  BuiltTrace trace;
  Event sync = call(EventKind::sync, "cuEventSynchronize", trace.model);
  sync.sync.event = 0xe1;
  Event record = call(EventKind::event_record, "cuEventRecord");
  record.sync.event = 0xe2;
  record.sync.stream = 13;
  Event wait = call(EventKind::event_wait, "cuStreamWaitEvent");
  wait.sync.event = 0xe3;
  Event capture = call(EventKind::capture, "cuStreamEndCapture");
  capture.flags = static_cast<std::uint8_t>(CaptureStep::end);
  capture.capture.graph = 0x6a;
  capture.capture.result = 900;
  for (const Event& event : {sync, record, wait, capture}) trace.event(event);

  const WrittenTrace written = trace.read();
  CHECK(written.only<SyncRecord>().event == 0xe1);
  CHECK(written.only<SyncRecord>().host.path == trace.model);
  const auto events = written.all<EventRecord>();
  REQUIRE(events.size() == 2);
  CHECK_FALSE(events[0].wait);
  CHECK(events[0].event == 0xe2);
  CHECK(events[0].stream == 13);
  CHECK(events[1].wait);
  const CaptureRecord ended = written.only<CaptureRecord>();
  CHECK(ended.step == CaptureStep::end);
  CHECK(ended.graph == 0x6a);
  CHECK(ended.result == 900);
}

TEST_CASE("threads and payload schemas that were named have their names") {
  BuiltTrace trace;
  Event named;
  named.kind = EventKind::thread_name;
  named.thread.name = trace.name("loader");
  named.thread.id = kThread;
  Event schema;
  schema.kind = EventKind::payload_schema;
  schema.schema.id = 17;
  schema.schema.definition = trace.name(R"({"fields":[]})");
  trace.event(named);
  trace.event(schema);

  trace.event(range_event(1, trace.model));

  const WrittenTrace written = trace.read();
  CHECK(written.only<ThreadRecord>().name == "loader");
  CHECK(written.only<PayloadSchemaRecord>().id == 17);
  CHECK(written.only<PayloadSchemaRecord>().definition == R"({"fields":[]})");
}

TEST_CASE("the source lines of a module are in the trace") {
  BuiltTrace trace;
  Event source;
  source.kind = EventKind::module_source;
  source.path = trace.model;
  source.source.module = 1;
  source.source.class_file = trace.name("/app/model.py");
  source.source.class_line = 214;
  source.source.call_file = trace.name("/app/train.py");
  source.source.call_line = 30;
  trace.event(source);

  trace.event(range_event(1, trace.model));

  const ModuleSourceRecord written = trace.read().only<ModuleSourceRecord>();
  CHECK(written.path == trace.model);
  CHECK(written.class_file + " " + written.call_file == "/app/model.py /app/train.py");
  CHECK(written.class_line == 214);
  CHECK(written.call_line == 30);
}

TEST_CASE("the origin of a generated kernel follows the kernel, and sources are omitted together") {
  for (const bool omits : {false, true}) {
    BuiltTrace trace;
    if (omits) trace.builder.omit_sources();
    Event origin;
    origin.kind = EventKind::kernel_origin;
    origin.path = trace.layer;
    origin.origin.kernel = trace.name("_Z3addPf");
    origin.origin.operators = trace.name("silu, mul");
    origin.origin.file = trace.name("/app/model.py");
    origin.origin.line = 220;
    trace.event(origin);
    trace.event(launch_event(5, "cuLaunchKernel", trace.layer));
    trace.builder.on_kernel(kernel_activity(5));

    const WrittenTrace written = trace.read();
    CHECK(written.all<KernelOriginRecord>().size() == (omits ? 0 : 1));
    if (omits) continue;
    const KernelOriginRecord record = written.only<KernelOriginRecord>();
    CHECK(record.kernel == written.only<KernelRecord>().name);
    CHECK(record.path == trace.layer);
    CHECK(record.operators == "silu, mul");
    CHECK(record.file == "/app/model.py");
    CHECK(record.line == 220);
  }
}

TEST_CASE("only the category of that name in its own domain declares bytes") {
  BuiltTrace trace;
  const std::uint32_t domain = trace.recorder.add_domain(trace.name("app"));
  trace.event(category_event(trace.name("rangefinder.bytes"), domain, 3));
  trace.event(category_event(trace.name("other"), domain, 4));
  struct Declared {
    std::uint32_t domain, category;
    std::uint64_t bytes;
  };
  for (const auto& [in_domain, category, bytes] : {Declared{domain, 3, 1000}, {domain, 4, 20}, {0, 3, 3}}) {
    Event range = range_event(category, trace.model);
    range.nvtx.domain = in_domain;
    range.nvtx.category = category;
    range.payload_type = static_cast<std::uint8_t>(PayloadType::u64);
    range.nvtx.payload = bytes;
    trace.event(range);
  }

  CHECK(trace.builder.totals().paths().at(0).declared_bytes == 1000);
  CHECK(trace.read().all<CategoryRecord>().at(0).name == "rangefinder.bytes");
}

TEST_CASE("the details of an overhead are freed and its times are relative") {
  BuiltTrace trace;
  OverheadRecord overhead;
  overhead.start_ns = kBase + 5;
  overhead.end_ns = kBase + 8;
  overhead.what = "lazy_function_loading";

  trace.builder.on_overhead(overhead, std::malloc(32));  // ASan reports a leak

  CHECK(trace.read().only<OverheadRecord>().start_ns == 5);
}

TEST_CASE("a hold has its thread and cause, and adds up to own_cost") {
  BuiltTrace trace;
  trace.event(hold_event(HoldCause::counter_batch, kBase + 200, kBase + 700));
  trace.event(range_event(9, trace.layer));

  CHECK(trace.builder.held_ns() == 500);
  const HoldRecord hold = trace.read().only<HoldRecord>();
  CHECK(hold.start_ns == 200);
  CHECK(hold.end_ns == 700);
  CHECK(hold.thread == kThread);
  CHECK(hold.cause == HoldCause::counter_batch);
  CHECK(trace.builder.totals().paths()[1].host_ns == 300);  // of 800
}
