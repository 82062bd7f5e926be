// SPDX-License-Identifier: Apache-2.0
//
// Windows over ranges: real pushes and pops of a thread, and a target that only counts.
#include "profiler/control/range_windows.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

class CountingTarget final : public ControlTarget {
 public:
  std::string begin_window(const WindowRequest& request) noexcept override {
    if (!refuse.empty()) return refuse;
    counters.push_back(request.counters.value_or(CounterMode::sampled));
    ++begun;
    return {};
  }
  std::string close_window(const char*) noexcept override {
    ++closed;
    return {};
  }
  bool finish_window() override { return false; }
  std::string give_up_cupti(const std::string&) override { return {}; }
  std::string reclaim_cupti() override { return {}; }
  SessionStatus status() override { return {}; }
  void set_counters(CounterMode) override {}
  std::string set_metrics(const std::string&) override { return {}; }
  std::uint64_t request_write() override { return 0; }
  std::string summary() override { return {}; }

  int begun = 0, closed = 0;
  std::vector<CounterMode> counters;
  std::string refuse;
};

struct Ranges {
  std::unique_ptr<Recorder> own = std::make_unique<Recorder>();
  CountingTarget target;
  RangeWindows windows{*own, target, [](void*) noexcept {}, nullptr};

  ~Ranges() { windows.disarm(); }
  void push(const char* name) const { own->threads.current()->push(0, name, {}); }
  void pop() const { own->threads.current()->pop(0); }
  void call(const char* name) const {
    push(name);
    pop();
  }
};

}  // namespace

TEST_CASE("a window is open from the push to the pop of a matching range") {
  Ranges ranges;
  REQUIRE(ranges.windows.arm({.glob = "decoder"}, {{}}, 1));

  ranges.push("model");
  CHECK(ranges.target.begun == 0);
  ranges.push("decoder");
  CHECK(ranges.target.begun == 1);
  ranges.call("layer");
  CHECK(ranges.target.closed == 0);
  ranges.pop();
  CHECK(ranges.target.closed == 1);
  ranges.call("decoder");
  ranges.pop();

  CHECK(ranges.target.begun == 1);
  CHECK(ranges.windows.windows_left() == 0);
  CHECK(ranges.own->trigger.load() == nullptr);
}

TEST_CASE("matching ranges are skipped, then counted, with other ranges between them") {
  Ranges ranges;
  REQUIRE(ranges.windows.arm({.glob = "step", .after = 2, .count = 3}, {{}}, 1));
  for (int i = 1; i <= 6; ++i) {
    ranges.call("other");
    ranges.call("step");
    CHECK(ranges.target.begun == (i >= 3 ? 1 : 0));
    CHECK(ranges.target.closed == (i >= 5 ? 1 : 0));
  }
}

TEST_CASE("nested matching ranges belong to the outer one") {
  Ranges ranges;
  REQUIRE(ranges.windows.arm({.glob = "a/**"}, {{}}, 5));

  ranges.push("a");
  ranges.push("b");
  ranges.push("c");
  ranges.pop();
  CHECK(ranges.target.closed == 0);
  ranges.pop();
  ranges.pop();

  CHECK(ranges.target.begun == 1);
  CHECK(ranges.target.closed == 1);
}

TEST_CASE("without a pattern, outermost ranges are counted") {
  Ranges ranges;
  REQUIRE(ranges.windows.arm({.glob = "", .count = 2}, {{}}, 1));

  ranges.push("one");
  ranges.call("inner");
  ranges.pop();
  CHECK(ranges.target.closed == 0);
  ranges.call("two");

  CHECK(ranges.target.closed == 1);
}

TEST_CASE("with a domain, only its ranges match") {
  Ranges ranges;
  const std::uint32_t domain = ranges.own->add_domain(ranges.own->names.intern("torch"));
  REQUIRE(ranges.windows.arm({.glob = "step", .domain = "torch"}, {{}}, 1));

  ranges.call("step");
  CHECK(ranges.target.begun == 0);
  ranges.own->threads.current()->push(domain, "step", {});

  CHECK(ranges.target.begun == 1);
}

TEST_CASE("while the previous window is closing, ranges are counted as skipped") {
  Ranges ranges;
  REQUIRE(ranges.windows.arm({.glob = "step"}, {{}}, 1));
  ranges.target.refuse = kNotCompleteYet;

  ranges.call("step");
  ranges.call("step");
  ranges.target.refuse.clear();
  ranges.call("step");

  CHECK(ranges.windows.skipped() == 2);
  CHECK(ranges.target.begun == 1);
  CHECK(ranges.target.closed == 1);
}

TEST_CASE("after a refusal no window is left, and error() holds the reason") {
  Ranges ranges;
  REQUIRE(ranges.windows.arm({.glob = "step"}, {{}}, 3));
  ranges.target.refuse = "another tool uses CUPTI";

  ranges.call("step");
  ranges.call("step");

  CHECK(ranges.windows.windows_left() == 0);
  CHECK(ranges.windows.error() == "another tool uses CUPTI");
}

TEST_CASE("successive windows can have different counters, and the last request repeats") {
  Ranges ranges;
  WindowRequest trace, exact;
  trace.counters = CounterMode::off;
  exact.counters = CounterMode::exact;
  REQUIRE(ranges.windows.arm({.glob = "step", .count = 2}, {trace, exact}, 3));

  for (int i = 0; i < 8; ++i) ranges.call("step");

  CHECK(ranges.target.counters == std::vector{CounterMode::off, CounterMode::exact, CounterMode::exact});
}
