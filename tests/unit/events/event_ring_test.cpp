// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/event_ring.h"

#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/catch.h"

using rangefinder::Event;
using rangefinder::EventKind;
using rangefinder::EventRing;

namespace {

Event numbered(std::uint64_t n) {
  Event event;
  event.kind = EventKind::alloc;
  event.memory.address = n;
  return event;
}

}  // namespace

TEST_CASE("events leave the ring in the order they were written") {
  const auto ring = std::make_unique<EventRing>();
  REQUIRE(ring->push(numbered(1)));
  REQUIRE(ring->push_in_place([](Event& event) { event = numbered(2); }));

  std::vector<std::uint64_t> seen;
  const std::size_t events =
      ring->drain([&seen](const Event& event) { seen.push_back(event.memory.address); });

  CHECK(events == 2);
  CHECK(seen == std::vector<std::uint64_t>{1, 2});
  CHECK(ring->empty());
}

TEST_CASE("a full ring refuses an event and accepts one after a drain") {
  const auto ring = std::make_unique<EventRing>();
  for (std::size_t i = 0; i < EventRing::kSlots; ++i) REQUIRE(ring->push(numbered(i)));

  CHECK_FALSE(ring->push(numbered(0)));
  CHECK(ring->half_full());
  CHECK(ring->drain([](const Event&) {}) == EventRing::kSlots);
  CHECK(ring->push(numbered(0)));
  CHECK_FALSE(ring->half_full());
}

TEST_CASE("extra slots are read back unchanged, also around the end of the ring") {
  const auto ring = std::make_unique<EventRing>();
  for (std::size_t i = 0; i < EventRing::kSlots - 2; ++i) REQUIRE(ring->push(numbered(i)));
  ring->drain([](const Event&) {});
  std::vector<std::byte> written(300);
  for (std::size_t i = 0; i < written.size(); ++i) written[i] = static_cast<std::byte>(i);
  Event event = numbered(7);
  event.extra_slots = 5;
  event.extra_bytes = 300;

  REQUIRE(ring->push(event, written));

  std::vector<std::byte> read(300);
  CHECK(ring->drain([&](const Event& seen) {
    CHECK(seen.memory.address == 7);
    ring->extra(read.data(), seen.extra_bytes);
  }) == 1);
  CHECK(read == written);
}

TEST_CASE("an event with extra slots is refused if only a part of it fits") {
  const auto ring = std::make_unique<EventRing>();
  for (std::size_t i = 0; i < EventRing::kSlots - 2; ++i) REQUIRE(ring->push(numbered(i)));
  Event event = numbered(7);
  event.extra_slots = 2;

  CHECK_FALSE(ring->push(event, std::vector<std::byte>(128)));

  CHECK(ring->drain([](const Event&) {}) == EventRing::kSlots - 2);
}

TEST_CASE("late events of the reader follow those of the writer") {
  const auto ring = std::make_unique<EventRing>();
  ring->add_late(numbered(9));
  REQUIRE(ring->push(numbered(1)));
  CHECK_FALSE(ring->empty());

  std::vector<std::uint64_t> seen;
  ring->drain([&seen](const Event& event) { seen.push_back(event.memory.address); });

  CHECK(seen == std::vector<std::uint64_t>{1, 9});
  CHECK(ring->empty());
}

TEST_CASE("an enlarged ring accepts more, and its older events come out first") {
  const auto ring = std::make_unique<EventRing>();
  std::uint64_t written = 0;
  while (ring->push(numbered(written))) ++written;

  REQUIRE(ring->enlarge());
  CHECK_FALSE(ring->enlarge());
  while (ring->push(numbered(written))) ++written;

  CHECK(written == EventRing::kSlots + EventRing::kLargeSlots);
  CHECK(ring->half_full());
  CHECK_FALSE(ring->empty());
  std::uint64_t expected = 0;
  CHECK(ring->drain([&](const Event& event) { expected += event.memory.address == expected ? 1 : 0; }) ==
        written);
  CHECK(expected == written);
  CHECK(ring->empty());
  CHECK_FALSE(ring->half_full());
}

TEST_CASE("a ring is empty in a forked child, enlarged or not") {
  const auto ring = std::make_unique<EventRing>();
  REQUIRE(ring->push(numbered(1)));
  REQUIRE(ring->enlarge());
  REQUIRE(ring->push(numbered(2)));

  ring->clear();

  CHECK(ring->empty());
  CHECK(ring->push(numbered(3)));
  CHECK(ring->drain([](const Event& event) { CHECK(event.memory.address == 3); }) == 1);
}

TEST_CASE("nothing is lost, torn or reordered between a writing and a reading thread") {
  constexpr std::uint64_t kEvents = 100'000;
  const auto ring = std::make_unique<EventRing>();
  std::thread writer([&ring] {
    for (std::uint64_t n = 1; n <= kEvents; ++n) {
      Event event = numbered(n);
      event.memory.bytes = ~n;
      event.extra_slots = n % 3 == 0 ? 1 : 0;
      event.extra_bytes = n % 3 == 0 ? sizeof n : 0;
      while (!ring->push(event, std::as_bytes(std::span(&n, n % 3 == 0 ? 1 : 0)))) std::this_thread::yield();
    }
  });

  std::uint64_t expected = 1, faults = 0;
  while (expected <= kEvents) {
    if (expected > kEvents / 2) (void)ring->enlarge();  // while the writer is active
    ring->drain([&](const Event& event) {
      std::uint64_t extra = event.memory.address;
      if (event.extra_slots != 0) ring->extra(reinterpret_cast<std::byte*>(&extra), event.extra_bytes);
      faults += event.memory.address != expected || event.memory.bytes != ~expected || extra != expected;
      ++expected;
    });
  }
  writer.join();

  CHECK(faults == 0);
  CHECK(ring->empty());
}
