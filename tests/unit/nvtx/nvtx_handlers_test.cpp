// SPDX-License-Identifier: Apache-2.0
//
// Every call goes through the real nvtx3 headers (static_injection.cpp).
#include <nvtx3/nvToolsExt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "profiler/nvtx/nvtx.h"
#include "tests/catch.h"
#include "tests/unit/nvtx/recorded_events.h"

using namespace rangefinder;

TEST_CASE("push and pop return levels and open a path named by the text") {
  CHECK(nvtxRangePushA("outer") == 0);
  CHECK(nvtxRangePushA("inner") == 1);
  CHECK(open_name() == "inner");
  CHECK(nvtxRangePop() == 1);
  CHECK(nvtxRangePop() == 0);

  const auto seen = take_events();

  REQUIRE(seen.size() == 2);
  CHECK(path_name(seen[0].event.path) == "inner");
  CHECK(path_name(seen[1].event.path) == "outer");
}

TEST_CASE("a pop without a push is counted and returns no level") {
  CHECK(counted(Loss::nvtx_pop_without_push, [] { CHECK(nvtxRangePop() == NVTX_NO_PUSH_POP_TRACKING); }) ==
        1);
}

TEST_CASE("wide texts become UTF-8, and invalid code points U+FFFD") {
  const wchar_t text[] = {L'a', 0xE4, 0x20AC, 0x1F600, wchar_t{0xD800}, wchar_t{0x110000}, wchar_t{-1}, 0};
  nvtxRangePushW(text);

  CHECK(open_name() == "a\u00e4\u20ac\U0001F600\uFFFD\uFFFD\uFFFD");

  nvtxRangePop();
  take_events();
}

TEST_CASE("a wide text of 100,000 characters is cut to the length of a name") {
  const std::wstring text(100'000, L'\u00e4');

  CHECK(counted(Loss::names_truncated, [&] { nvtxRangePushW(text.c_str()); }) == 1);

  const std::string kept = open_name();
  CHECK(kept.size() <= NameTable::kMaxNameBytes);
  CHECK(kept.size() > NameTable::kMaxNameBytes - 4);
  nvtxRangePop();
  nvtxRangePushW((text + L'b').c_str());
  CHECK(open_name() != kept);
  nvtxRangePop();
  take_events();
}

TEST_CASE("a range without any text has the empty name") {
  nvtxRangePushA(nullptr);
  CHECK(recorder().threads.current()->stack().path() != 0);
  CHECK(open_name().empty());
  nvtxRangePushW(nullptr);
  CHECK(open_name().empty());
  nvtxRangePushEx(nullptr);
  CHECK(open_name().empty());
  nvtxEventAttributes_t event = event_of(nullptr);
  nvtxRangePushEx(&event);
  CHECK(open_name().empty());
  for (int level = 3; level >= 0; --level) CHECK(nvtxRangePop() == level);
  take_events();
}

TEST_CASE("a structure shorter than ours is not read beyond its end") {
  // Exactly as many bytes as its size field says, so that a sanitizer detects a read beyond them.
  const auto whole = event_of("not to be seen");
  const std::size_t bytes = offsetof(nvtxEventAttributes_t, payload);
  const std::unique_ptr<std::byte[]> memory(new std::byte[bytes]);
  std::memcpy(memory.get(), &whole, bytes);
  auto* const event = reinterpret_cast<nvtxEventAttributes_t*>(memory.get());
  const auto size = static_cast<std::uint16_t>(bytes);
  std::memcpy(memory.get() + offsetof(nvtxEventAttributes_t, size), &size, sizeof size);

  nvtxMarkEx(event);

  const auto seen = take_events();
  REQUIRE(seen.size() == 1);
  CHECK(name_text(seen[0].event.nvtx.name).empty());
}

TEST_CASE("colour, category and each type of payload are recorded unchanged") {
  struct Case {
    int type;
    std::uint64_t given, expected;
  };
  const Case cases[] = {
      {NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, UINT64_MAX, UINT64_MAX},
      {NVTX_PAYLOAD_TYPE_INT64, static_cast<std::uint64_t>(-5), static_cast<std::uint64_t>(-5)},
      {NVTX_PAYLOAD_TYPE_DOUBLE, std::bit_cast<std::uint64_t>(2.5), std::bit_cast<std::uint64_t>(2.5)},
      {NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, 0xAAAAAAAA'FFFFFFFF, 0xFFFFFFFF},
      {NVTX_PAYLOAD_TYPE_INT32, 0xAAAAAAAA'FFFFFFFE, 0xFFFFFFFE},
      {NVTX_PAYLOAD_TYPE_FLOAT, std::bit_cast<std::uint32_t>(1.5f), std::bit_cast<std::uint32_t>(1.5f)}};
  const PayloadType types[] = {PayloadType::u64, PayloadType::i64, PayloadType::f64,
                               PayloadType::u32, PayloadType::i32, PayloadType::f32};
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    nvtxEventAttributes_t event = event_of("payload");
    event.category = 9;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0x80FF0102;
    event.payloadType = cases[i].type;
    event.payload.ullValue = cases[i].given;

    nvtxMarkEx(&event);

    const auto seen = take_events();
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].event.kind == EventKind::mark);
    CHECK(name_text(seen[0].event.nvtx.name) == "payload");
    CHECK(seen[0].event.payload_type == static_cast<std::uint8_t>(types[i]));
    CHECK(seen[0].event.nvtx.payload == cases[i].expected);
    CHECK(seen[0].event.nvtx.category == 9);
    CHECK(seen[0].event.color == 0x80FF0102);
  }
}

TEST_CASE("a mark records its enclosing range") {
  nvtxRangePushA("around");
  const std::uint64_t range = recorder().threads.current()->stack().range();
  nvtxMarkA("narrow");
  nvtxMarkW(L"wide");
  nvtxRangePop();

  const auto seen = take_events();

  REQUIRE(seen.size() == 3);
  CHECK(name_text(seen[0].event.nvtx.name) == "narrow");
  CHECK(name_text(seen[1].event.nvtx.name) == "wide");
  CHECK(seen[0].event.range == range);
  CHECK(path_name(seen[1].event.path) == "around");
}

TEST_CASE("domains with the same name are one domain") {
  const nvtxDomainHandle_t first = nvtxDomainCreateA("test.domain");
  const nvtxDomainHandle_t again = nvtxDomainCreateW(L"test.domain");
  const nvtxDomainHandle_t other = nvtxDomainCreateA("test.other");

  CHECK(first != nullptr);
  CHECK(first == again);
  CHECK(other != first);
  nvtxDomainDestroy(first);
  const nvtxEventAttributes_t event = event_of("after destroy");
  nvtxDomainMarkEx(first, &event);
  const auto seen = take_events();
  REQUIRE(seen.size() == 1);
  CHECK(name_text(recorder().domain_name(seen[0].event.nvtx.domain)) == "test.domain");
}

TEST_CASE("each domain has its own stack, and an unknown handle is the default domain") {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("test.stack");
  const nvtxEventAttributes_t event = event_of("x");
  int somewhere = 0;

  CHECK(nvtxRangePushA("default") == 0);
  CHECK(nvtxDomainRangePushEx(domain, &event) == 0);
  CHECK(nvtxDomainRangePushEx(reinterpret_cast<nvtxDomainHandle_t>(&somewhere), &event) == 1);
  CHECK(nvtxDomainRangePushEx(nullptr, &event) == 2);

  CHECK(nvtxDomainRangePop(domain) == 0);
  CHECK(nvtxDomainRangePop(domain) == NVTX_NO_PUSH_POP_TRACKING);
  CHECK(nvtxDomainRangePop(nullptr) == 2);
  CHECK(nvtxRangePop() == 1);
  CHECK(nvtxRangePop() == 0);
  take_events();
}

TEST_CASE("a registered string names a range by its text, narrow or wide") {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("test.strings");
  const nvtxStringHandle_t narrow = nvtxDomainRegisterStringA(domain, "registered");
  const nvtxStringHandle_t wide = nvtxDomainRegisterStringW(domain, L"registered \u00fc");
  REQUIRE(narrow != nullptr);
  REQUIRE(wide != nullptr);
  CHECK(narrow != wide);
  nvtxEventAttributes_t event = event_of(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;

  event.message.registered = narrow;
  nvtxDomainRangePushEx(domain, &event);
  CHECK(open_name() == "registered");
  event.message.registered = wide;
  nvtxDomainRangePushEx(domain, &event);
  CHECK(open_name() == "registered \u00fc");
  event.message.registered = reinterpret_cast<nvtxStringHandle_t>(&event);
  nvtxDomainRangePushEx(domain, &event);
  CHECK(open_name() == "(other)");

  for (int level = 2; level >= 0; --level) CHECK(nvtxDomainRangePop(domain) == level);
  take_events();
}

TEST_CASE("a wait for the lock of names is recorded before the ranges that it is in") {
  std::vector<EventKind> kinds;
  // Again if this thread came to the lock too late to wait for 20 us.
  for (int tries = 0; kinds.size() < 2 && tries < 100; ++tries) {
    std::atomic<bool> held{false};
    std::thread other([&held] {
      recorder().names.mutex().lock();
      held = true;
      const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
      while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
      recorder().names.mutex().unlock();
    });
    nvtxRangePushA("waits");
    take_events();
    while (!held) std::this_thread::yield();
    nvtxDomainRegisterStringA(nullptr, ("new " + std::to_string(tries)).c_str());
    nvtxRangePop();
    other.join();
    kinds.clear();
    for (const Seen& seen : take_events()) kinds.push_back(seen.event.kind);
  }

  CHECK(kinds == std::vector{EventKind::hold, EventKind::range});
}

TEST_CASE("digits of registered strings are folded like those of others") {
  nvtxEventAttributes_t event = event_of(nullptr);
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(nullptr, "step 17");
  recorder().fold_digits = true;
  nvtxRangePushEx(&event);
  recorder().fold_digits = false;

  CHECK(open_name() == "step #");

  nvtxRangePop();
  take_events();
}

TEST_CASE("names of categories, with their domain, and of threads are recorded") {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("test.categories");
  nvtxNameCategoryA(1, "one");
  nvtxNameCategoryW(2, L"two");
  nvtxDomainNameCategoryA(domain, 3, "three");
  nvtxDomainNameCategoryW(domain, 4, L"four");
  nvtxNameOsThreadA(100, "narrow thread");
  nvtxNameOsThreadW(200, L"wide thread");

  const auto seen = take_events();

  REQUIRE(seen.size() == 6);
  const char* const names[] = {"one", "two", "three", "four"};
  for (std::size_t i = 0; i < 4; ++i) CHECK(name_text(seen[i].event.nvtx.name) == names[i]);
  CHECK(name_text(seen[4].event.thread.name) == "narrow thread");
  CHECK(name_text(seen[5].event.thread.name) == "wide thread");
  CHECK(seen[0].event.kind == EventKind::category_name);
  CHECK(seen[0].event.nvtx.domain == 0);
  CHECK(name_text(recorder().domain_name(seen[3].event.nvtx.domain)) == "test.categories");
  CHECK(seen[3].event.nvtx.category == 4);
  CHECK(seen[5].event.kind == EventKind::thread_name);
  CHECK(seen[5].event.thread.id == 200);
}
