// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/exact/metric_turns.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/counters/exact/exact_context.h"
#include "profiler/events/recorder.h"
#include "tests/catch.h"

namespace rangefinder {
namespace {

/// Launches of one thread, measured as ExactContext does, with batches of `batch` ranges.
struct Loop {
  explicit Loop(std::size_t of, std::size_t ranges = 128) : groups(of), batch(ranges) {}

  void launch(const std::string& at) {
    ExactEntry entry;
    entry.path = state().stack().path();
    entry.range = state().stack().range();
    turns.arrive(entry, groups);
    if (begun == batch || begun == 0 || turns.is_due(group)) {
      const std::size_t next = turns.choose(group);
      if (next != group && begun != 0) ++changes;
      group = next;
      begun = 0;
    }
    ++begun;
    turns.count(group);
    ++measured.try_emplace(at, groups).first->second[group];
  }
  void push(const std::string& name) { (void)state().push(0, name, {}); }
  void pop() { (void)state().pop(0); }
  ThreadState& state() { return *recorder->threads.current(); }
  /// Launches that some group has not measured.
  std::size_t unmeasured() const {
    return static_cast<std::size_t>(std::count_if(measured.begin(), measured.end(), [](const auto& launch) {
      return *std::min_element(launch.second.begin(), launch.second.end()) == 0;
    }));
  }

  std::unique_ptr<Recorder> recorder = std::make_unique<Recorder>();
  MetricTurns turns{*recorder};
  std::size_t groups, batch, group = 0, begun = 0, changes = 0;
  std::map<std::string, std::vector<std::size_t>> measured;  // by launch
};

/// An iteration: twelve layers of 20 launches, and `norm`, which each layer opens again.
void run_model(Loop& loop) {
  loop.push("model");
  for (int layer = 0; layer < 12; ++layer) {
    loop.push("layers/" + std::to_string(layer));
    for (int i = 0; i < 20; ++i) loop.launch(std::to_string(layer) + " " + std::to_string(i));
    loop.pop();
    loop.push("norm");
    loop.launch("norm " + std::to_string(layer));
    loop.pop();
  }
  loop.pop();
}

TEST_CASE("sixty numbered iterations measure every launch with all of 28 groups") {
  Loop loop(28);
  for (int i = 0; i < 60; ++i) {
    loop.push("iterations" + std::to_string(i));
    run_model(loop);
    loop.pop();
  }

  CHECK(loop.measured.size() == 252);
  CHECK(loop.unmeasured() == 0);
  CHECK(loop.changes < 60);
}

TEST_CASE("iterations of one name, below epochs, and without ranges of their own take turns as well") {
  const auto unmeasured = [](auto begin, auto end) {
    Loop loop(28);
    for (int i = 0; i < 60; ++i) {
      begin(loop, i);
      run_model(loop);
      end(loop);
    }
    return loop.unmeasured();
  };

  CHECK(unmeasured([](Loop& loop, int) { loop.push("step"); }, [](Loop& loop) { loop.pop(); }) == 0);
  CHECK(unmeasured(
            [](Loop& loop, int i) {
              loop.push("Epoch " + std::to_string(i / 10));
              loop.push("batch " + std::to_string(i % 10));
            },
            [](Loop& loop) {
              loop.pop();
              loop.pop();
            }) == 0);
}

TEST_CASE("layers are not taken for one another") {
  Loop loop(4);
  for (int i = 0; i < 8; ++i) {
    loop.push("iterations" + std::to_string(i));
    for (int layer = 0; layer < 3; ++layer) {
      loop.push("layer_" + std::to_string(layer));
      loop.launch(std::to_string(layer));
      loop.pop();
    }
    loop.pop();
  }

  CHECK(loop.unmeasured() == 0);
  for (const auto& [layer, by_group] : loop.measured) CHECK(by_group == std::vector<std::size_t>(4, 2));
}

TEST_CASE("work outside of ranges, and a program with one group, have no early turns") {
  Loop outside(3, 1'000'000), one(1, 1'000'000);
  for (int i = 0; i < 100; ++i) {
    outside.launch("a");
    one.push("step");
    one.launch("a");
    one.pop();
  }

  CHECK(outside.changes == 0);
  CHECK(one.changes == 0);
}

TEST_CASE("a long run has few changes of groups") {
  Loop loop(4);
  for (int i = 0; i < 20'000; ++i) {
    loop.push("step");
    loop.launch("a");
    loop.pop();
  }

  CHECK(loop.changes < 60);
  const std::vector<std::size_t>& counts = loop.measured.at("a");
  CHECK(*std::max_element(counts.begin(), counts.end()) <
        5 * *std::min_element(counts.begin(), counts.end()));
}

}  // namespace
}  // namespace rangefinder
