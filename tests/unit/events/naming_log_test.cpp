// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/naming_log.h"

#include <memory>

#include "profiler/events/recorder.h"
#include "tests/catch.h"

using namespace rangefinder;

namespace {

Event of_kind(EventKind kind) {
  Event event;
  event.kind = kind;
  return event;
}

Event thread_name(std::uint32_t thread, std::uint32_t name) {
  Event event = of_kind(EventKind::thread_name);
  event.thread.id = thread;
  event.thread.name = name;
  return event;
}

Event category_name(std::uint32_t category, std::uint32_t name) {
  Event event = of_kind(EventKind::category_name);
  event.nvtx.domain = 2;
  event.nvtx.category = category;
  event.nvtx.name = name;
  return event;
}

Event payload_schema(std::uint64_t id, std::uint32_t definition) {
  Event event = of_kind(EventKind::payload_schema);
  event.schema.domain = 2;
  event.schema.id = id;
  event.schema.definition = definition;
  return event;
}

}  // namespace

TEST_CASE("the source lines of each path are kept") {
  NamingLog log;
  for (const std::uint32_t path : {3U, 4U, 3U}) {
    Event source = of_kind(EventKind::module_source);
    source.path = path;
    CHECK(log.add(1, source));
  }

  CHECK(log.entries().size() == 2);
}

TEST_CASE("the last name of a thread, a category and a schema is kept") {
  NamingLog log;
  for (const std::uint32_t name : {10U, 11U}) {
    CHECK(log.add(1, thread_name(7, name)));
    CHECK(log.add(1, category_name(3, name)));
    CHECK(log.add(1, category_name(4, name)));
    CHECK(log.add(1, payload_schema(99, name)));
  }

  const auto entries = log.entries();

  REQUIRE(entries.size() == 4);
  CHECK(entries[0].event.thread.name == 11);
  CHECK(entries[1].event.nvtx.name == 11);
  CHECK(entries[2].event.nvtx.name == 11);
  CHECK(entries[3].event.schema.definition == 11);
}

TEST_CASE("names are bounded") {
  NamingLog log;
  for (std::uint32_t i = 0; i < NamingLog::kMaxNames + 10; ++i) CHECK(log.add(1, thread_name(i, i)));

  CHECK(log.entries().size() == NamingLog::kMaxNames);
}

TEST_CASE("between windows only names are kept, and rings stay empty") {
  auto own = std::make_unique<Recorder>();
  own->record_until_ns.store(Recorder::kNever);
  ThreadState& state = *own->threads.current();
  Event launch;
  launch.kind = EventKind::launch;
  launch.start_ns = 5;

  state.emit(launch);
  state.emit(category_name(2, 3));
  state.push(0, "a", {});
  state.pop(0);

  CHECK(state.ring().empty());
  CHECK(own->naming.entries().size() == 1);
}

TEST_CASE("an event that began before the end of a window is still recorded") {
  auto own = std::make_unique<Recorder>();
  ThreadState& state = *own->threads.current();
  Event event;
  event.kind = EventKind::launch;
  own->record_until_ns.store(1000);

  event.start_ns = 999;
  state.emit(event);
  event.start_ns = 1000;
  state.emit(event);

  std::size_t events = 0;
  state.ring().drain([&](const Event& seen) {
    ++events;
    CHECK(seen.start_ns == 999);
  });
  CHECK(events == 1);
}

TEST_CASE("a call that puts work on the GPU is visible until it ends") {
  auto own = std::make_unique<Recorder>();
  ThreadState& state = *own->threads.current();
  CHECK_FALSE(own->threads.any_work_before(1'000'000));

  state.enter_call(1);
  state.begin_work(500);
  CHECK(own->threads.any_work_before(501));
  CHECK_FALSE(own->threads.any_work_before(500));
  state.leave_call();

  CHECK_FALSE(own->threads.any_work_before(1'000'000));
}
