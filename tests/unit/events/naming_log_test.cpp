// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/naming_log.h"

#include <memory>

#include "profiler/events/recorder.h"
#include "tests/catch.h"

using namespace rangefinder;

namespace {

Event named(EventKind kind, std::uint32_t c, std::uint32_t d, std::uint64_t a, std::uint64_t name) {
  Event event;
  event.kind = kind;
  event.a = a;
  event.b = name;
  event.c = c;
  event.d = d;
  return event;
}

}  // namespace

TEST_CASE("the last name of a thread, a category and a schema is kept") {
  NamingLog log;
  for (const std::uint64_t name : {10U, 11U}) {
    CHECK(log.add(1, named(EventKind::thread_name, 7, 0, 0, name)));
    CHECK(log.add(1, named(EventKind::category_name, 2, 3, 0, name)));
    CHECK(log.add(1, named(EventKind::category_name, 2, 4, 0, name)));
    CHECK(log.add(1, named(EventKind::payload_schema, 2, 0, 99, name)));
  }

  const auto entries = log.entries();

  REQUIRE(entries.size() == 4);
  for (const NamingLog::Entry& entry : entries) CHECK(entry.event.b == 11);
}

TEST_CASE("names and graph nodes are bounded; the newest nodes are kept") {
  NamingLog log;
  for (std::uint32_t i = 0; i < NamingLog::kMaxNames + 10; ++i)
    CHECK(log.add(1, named(EventKind::thread_name, i, 0, 0, i)));
  for (std::uint64_t i = 0; i < NamingLog::kMaxNodes + 10; ++i)
    CHECK(log.add(1, named(EventKind::graph_node, 7, 0, i, 0)));

  const auto entries = log.entries();

  CHECK(entries.size() == NamingLog::kMaxNames + NamingLog::kMaxNodes);
  CHECK(entries[NamingLog::kMaxNames].event.a == 10);
  CHECK(entries[NamingLog::kMaxNames].event.c == 7);  // the kernel's name
}

TEST_CASE("between windows only names are kept, and rings stay empty") {
  auto own = std::make_unique<Recorder>();
  own->record_until_ns.store(Recorder::kNever);
  ThreadState& state = *own->threads.current();
  Event launch;
  launch.kind = EventKind::launch;
  launch.start_ns = 5;

  state.emit(launch);
  state.emit(named(EventKind::category_name, 1, 2, 0, 3));
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

TEST_CASE("a call in progress is visible until it ends") {
  auto own = std::make_unique<Recorder>();
  ThreadState& state = *own->threads.current();
  CHECK_FALSE(own->threads.any_call_before(1'000'000));

  state.begin_call(500);
  CHECK(own->threads.any_call_before(501));
  CHECK_FALSE(own->threads.any_call_before(500));
  state.end_call();

  CHECK_FALSE(own->threads.any_call_before(1'000'000));
}
