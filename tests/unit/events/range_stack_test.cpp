// SPDX-License-Identifier: Apache-2.0
#include "profiler/events/range_stack.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>

#include "profiler/events/fold_digits.h"
#include "profiler/events/recorder.h"
#include "tests/catch.h"

using rangefinder::Event;
using rangefinder::Loss;
using rangefinder::NvtxAttributes;
using rangefinder::NvtxPayload;
using rangefinder::PathNode;
using rangefinder::Recorder;
using rangefinder::ThreadState;

namespace {

struct Fixture {
  std::unique_ptr<Recorder> recorder = std::make_unique<Recorder>();
  ThreadState& state = *recorder->threads.current();

  int push(std::uint32_t domain, std::string_view text) { return state.push(domain, text, {}); }
  std::string shown(std::uint32_t path) const {
    std::string text;
    for (; path != 0; path = recorder->paths.node(path).parent) {
      const std::string name(recorder->names.text(recorder->paths.node(path).name));
      text = text.empty() ? name : name + "/" + text;
    }
    return text;
  }
  std::string path() const { return shown(state.stack().path()); }
  std::vector<Event> events() {
    std::vector<Event> seen;
    state.ring().drain([&seen](const Event& event) { seen.push_back(event); });
    return seen;
  }
  std::uint64_t lost(Loss cause) const { return recorder->loss.get(cause); }
};

}  // namespace

TEST_CASE_METHOD(Fixture, "a push opens a path below the current one, a pop returns to it") {
  CHECK(push(0, "model") == 0);
  const std::uint64_t outer = state.stack().range();
  CHECK(push(0, "decoder") == 1);

  CHECK(path() == "model/decoder");
  CHECK(state.stack().range() != outer);
  CHECK(state.pop(0) == 1);
  CHECK(path() == "model");
  CHECK(state.stack().range() == outer);
  CHECK(state.pop(0) == 0);
  CHECK(state.stack().path() == 0);
  CHECK(state.stack().range() == 0);
}

TEST_CASE_METHOD(Fixture, "a closed range is one event with all attributes of the push") {
  NvtxAttributes attributes;
  attributes.category = 3;
  attributes.color = 0xFF112233;
  attributes.payload_type = rangefinder::PayloadType::u64;
  attributes.payload = 42;
  (void)state.push(7, "range", attributes);
  const std::uint64_t id = state.stack().range();
  (void)state.pop(7);

  const std::vector<Event> seen = events();

  REQUIRE(seen.size() == 1);
  CHECK(seen[0].kind == rangefinder::EventKind::range);
  CHECK(seen[0].range == id);
  CHECK(shown(seen[0].path) == "range");
  CHECK(seen[0].nvtx.domain == 7);
  CHECK(seen[0].nvtx.category == 3);
  CHECK(seen[0].color == 0xFF112233);
  CHECK(seen[0].payload_type == 1);
  CHECK(seen[0].nvtx.payload == 42);
  CHECK(seen[0].start_ns > 0);
  CHECK(seen[0].end_ns >= seen[0].start_ns);
  CHECK(seen[0].extra_slots == 0);
}

TEST_CASE_METHOD(Fixture, "each instance has its own id, and equal ranges share a path") {
  std::vector<std::uint64_t> ids;
  for (int i = 0; i < 3000; ++i) {
    (void)push(0, "same");
    ids.push_back(state.stack().range());
    (void)state.pop(0);
  }

  std::sort(ids.begin(), ids.end());

  CHECK(std::adjacent_find(ids.begin(), ids.end()) == ids.end());
  CHECK(recorder->paths.size() == 2);
}

TEST_CASE_METHOD(Fixture, "a pop closes the innermost range of its domain, and ranges above it move down") {
  CHECK(push(0, "a") == 0);
  CHECK(push(1, "b") == 0);
  CHECK(push(0, "c") == 1);
  CHECK(push(2, "d") == 0);
  CHECK(path() == "a/b/c/d");

  CHECK(state.pop(1) == 0);

  CHECK(path() == "a/c/d");
  CHECK(state.pop(0) == 1);
  CHECK(path() == "a/d");
  CHECK(state.pop(0) == 0);
  CHECK(path() == "d");
  CHECK(state.pop(2) == 0);
  CHECK(path().empty());
  std::vector<std::string> closed;
  for (const Event& event : events()) closed.push_back(shown(event.path));
  CHECK(closed == std::vector<std::string>{"a/b", "a/c", "a", "d"});
}

TEST_CASE_METHOD(Fixture, "a pop without a push is counted and closes nothing") {
  (void)push(0, "open");

  CHECK(state.pop(5) == -2);

  CHECK(lost(Loss::nvtx_pop_without_push) == 1);
  CHECK(path() == "open");
  CHECK(events().empty());
}

TEST_CASE_METHOD(Fixture, "of 200 levels 128 have names, the others are counted, all close") {
  for (int level = 0; level < 200; ++level) CHECK(push(0, "level " + std::to_string(level)) == level);
  CHECK(lost(Loss::nvtx_too_deep) == 72);
  CHECK(path().ends_with("/level 127"));
  CHECK(state.stack().depth(0) == 200);

  for (int level = 199; level >= 0; --level) REQUIRE(state.pop(0) == level);

  CHECK(events().size() == 128);
  CHECK(state.stack().depth(0) == 0);
  CHECK(state.pop(0) == -2);
}

TEST_CASE_METHOD(Fixture, "beyond the last level each domain is counted separately") {
  for (int level = 0; level < 128; ++level) (void)push(0, "x");
  CHECK(push(1, "deep") == 0);
  CHECK(push(2, "deep") == 0);
  CHECK(push(1, "deep") == 1);

  CHECK(state.pop(0) == 127);
  CHECK(state.pop(2) == 0);
  CHECK(state.pop(2) == -2);
  CHECK(state.pop(1) == 1);
  CHECK(push(1, "deep") == 1);
  CHECK(state.pop(1) == 1);
  CHECK(state.pop(1) == 0);
  CHECK(push(1, "named again") == 0);
  CHECK(path().ends_with("x/named again"));
}

/// Runs `body` on a thread of that name, with its state.
template <typename Body>
void on_thread(Recorder& recorder, const char* name, const Body& body) {
  std::thread([&] {
    pthread_setname_np(pthread_self(), name);
    body(*recorder.threads.current());
  }).join();
}

TEST_CASE_METHOD(Fixture, "a thread that inherits is where the one thread with ranges is") {
  recorder->threads.set_inheriting("other,pt_autograd_*");
  on_thread(*recorder, "pt_autograd_0", [](ThreadState& autograd) { CHECK(autograd.place().range == 0); });
  (void)push(0, "step");
  (void)push(0, "backward");

  on_thread(*recorder, "pt_autograd_0", [this](ThreadState& autograd) {
    CHECK(autograd.place().path == state.stack().path());
    CHECK(autograd.place().range == state.stack().range());
    CHECK(autograd.place().inherited);
    (void)autograd.push(0, "backward", {});  // the same level
    CHECK(autograd.place().path == state.stack().path());
    CHECK(autograd.place().range != state.stack().range());
    (void)autograd.push(0, "layer", {});
    CHECK(shown(autograd.place().path) == "step/backward/layer");
    CHECK(autograd.place().inherited);
    (void)autograd.pop(0);
    (void)autograd.pop(0);
    CHECK(autograd.place().range == state.stack().range());
    (void)autograd.push(0, "layer", {});
    CHECK(shown(autograd.place().path) == "step/backward/layer");
    (void)autograd.pop(0);
  });
  on_thread(*recorder, "worker", [](ThreadState& worker) { CHECK(worker.place().path == 0); });
  CHECK(lost(Loss::inherit_ambiguous) == 0);
}

TEST_CASE_METHOD(Fixture,
                 "with several candidates a thread inherits no path, and threads that inherit are none") {
  recorder->threads.set_inheriting("pt_autograd_*");
  (void)push(0, "step");
  on_thread(*recorder, "pt_autograd_0", [this](ThreadState& first) {
    (void)first.push(0, "layer", {});
    on_thread(*recorder, "pt_autograd_1",
              [this](ThreadState& second) { CHECK(second.place().path == state.stack().path()); });
  });
  CHECK(lost(Loss::inherit_ambiguous) == 0);
  on_thread(*recorder, "loader", [this](ThreadState& loader) {
    (void)loader.push(0, "loading", {});
    on_thread(*recorder, "pt_autograd_0", [](ThreadState& autograd) { CHECK(autograd.place().path == 0); });
  });
  CHECK(lost(Loss::inherit_ambiguous) == 1);
}

TEST_CASE_METHOD(Fixture, "levels below an inherited path count as those of a thread") {
  recorder->threads.set_inheriting("pt_autograd_*");
  for (int i = 0; i < 100; ++i) (void)push(0, "level");
  on_thread(*recorder, "pt_autograd_0", [](ThreadState& autograd) {
    for (int i = 0; i < 100; ++i) (void)autograd.push(0, "deeper", {});
  });
  CHECK(lost(Loss::nvtx_too_deep) == 72);
}

TEST_CASE_METHOD(Fixture, "digits are folded only if requested") {
  (void)push(0, "step 12345 of 7");
  CHECK(path() == "step 12345 of 7");
  (void)state.pop(0);
  recorder->fold_digits = true;

  (void)push(0, "step 12345 of 7");

  CHECK(path() == "step # of #");
}

TEST_CASE("folding returns a text without digits unchanged, and of one that does not fit the end is a hash") {
  char out[20];
  const std::string_view plain = "no digits in here";

  CHECK(rangefinder::fold_digits(plain, out).data() == plain.data());
  CHECK(rangefinder::fold_digits("12ab34cd", out) == "#ab#cd");
  CHECK(rangefinder::fold_digits("99", out) == "#");
  const std::string one(rangefinder::fold_digits("12ab34cdefghijklmnopqrst1", out));
  CHECK(one.starts_with("#ab#"));
  CHECK(one.size() == 20);
  CHECK(rangefinder::fold_digits("12ab34cdefghijklmnopqrst2", out) == one);
  CHECK(rangefinder::fold_digits("12ab34cdefghijklmnopqrsu", out) != one);
  CHECK(rangefinder::fold_digits("12ab34cdeXghijklmnopqrst1", out) != one);
}

TEST_CASE_METHOD(Fixture,
                 "the payload of the start stays with its range, also if ranges above are still open") {
  const std::string first(1000, '1'), second = "second";
  const NvtxPayload payloads[] = {{11, first.data(), first.size()}, {12, second.data(), second.size()}};
  (void)state.push(1, "a", {.extended = &payloads[0]});
  (void)state.push(2, "b", {.extended = &payloads[1]});
  (void)state.pop(1);
  (void)state.push(1, "c", {.extended = &payloads[0]});
  (void)state.pop(1);
  (void)state.pop(2);

  std::vector<std::string> seen;
  state.ring().drain([&](const Event& event) {
    std::string extra(event.extra_bytes, '\0');
    state.ring().extra(reinterpret_cast<std::byte*>(extra.data()), extra.size());
    seen.push_back(std::to_string(extra.at(0)) + extra.substr(8));
  });

  CHECK(seen == std::vector<std::string>{"11" + first, "11" + first, "12second"});
  CHECK(lost(Loss::payloads_truncated) == 0);
}

TEST_CASE_METHOD(
    Fixture, "a payload over 4096 bytes is cut and counted; one at the end is kept if the start had none") {
  const std::string big(5000, 'x');
  const NvtxPayload payload{1, big.data(), big.size()};
  (void)push(0, "a");
  (void)state.pop(0, &payload);

  const std::vector<Event> seen = events();

  REQUIRE(seen.size() == 1);
  CHECK(seen[0].extra_bytes == 8 + rangefinder::kMaxPayloadBytes);
  CHECK(seen[0].extra_slots == 65);
  CHECK(lost(Loss::payloads_truncated) == 1);
}

TEST_CASE_METHOD(Fixture,
                 "payloads that do not fit into the thread's store are counted, the ranges are not lost") {
  const std::string data(4096, 'x');
  const NvtxPayload payload{1, data.data(), data.size()};
  for (int i = 0; i < 20; ++i) (void)state.push(0, "a", {.extended = &payload});
  for (int i = 0; i < 20; ++i) (void)state.pop(0);

  CHECK(events().size() == 20);
  CHECK(lost(Loss::payloads_truncated) == 5);
}

TEST_CASE_METHOD(Fixture, "when recording stops, every open range is an event marked as unclosed") {
  (void)push(0, "model");
  (void)push(3, "decoder");
  const std::uint64_t range = state.stack().range();

  CHECK(state.close_all(rangefinder::clock_now_ns()) == 2);

  const std::vector<Event> seen = events();
  REQUIRE(seen.size() == 2);
  CHECK(shown(seen[1].path) == "model/decoder");
  CHECK(seen[1].range == range);
  CHECK(seen[1].nvtx.domain == 3);
  CHECK(seen[1].flags == rangefinder::kRangeUnclosed);
  CHECK(seen[1].end_ns == rangefinder::kNoTime);
  CHECK(lost(Loss::nvtx_unclosed) == 2);
}

TEST_CASE_METHOD(Fixture, "a range opened after recording stopped is not counted as open") {
  (void)push(0, "late");

  CHECK(state.close_all(0) == 0);
  CHECK(events().empty());
}

TEST_CASE("close_all reads consistent ranges while their owner continues") {
  const auto recorder = std::make_unique<Recorder>();
  std::atomic<ThreadState*> running{nullptr};
  std::atomic<bool> stop{false};
  std::thread owner([&] {
    ThreadState& state = *recorder->threads.current();
    running = &state;
    while (!stop) {
      for (std::uint64_t i = 1; i <= 8; ++i) {
        const auto domain = static_cast<std::uint32_t>(i % 3);
        (void)state.push(domain, "x", {.category = domain, .payload_type = {}, .payload = domain});
      }
      for (std::uint32_t i = 0; i < 8; ++i) (void)state.pop(i % 3);
      for (std::uint32_t i = 0; i < 3; ++i) (void)state.pop(i);
    }
  });
  while (running == nullptr) std::this_thread::yield();

  std::size_t torn = 0;
  for (int i = 0; i < 2000; ++i) {
    (void)running.load()->close_all(rangefinder::clock_now_ns());
    running.load()->ring().drain([&](const Event& event) {
      torn += event.nvtx.domain != event.nvtx.category || event.nvtx.payload != event.nvtx.domain;
    });
  }
  stop = true;
  owner.join();

  CHECK(torn == 0);
}
