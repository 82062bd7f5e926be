// SPDX-License-Identifier: Apache-2.0
//
// The line from the counter to the clock: hours of a simulated clock with NTP steering, and this machine's
// clock.
#include "profiler/events/tsc_clock.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <random>
#include <thread>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

constexpr double kGhz = 2.9;
constexpr std::int64_t kStartNs = 1'700'000'000'000'000'000;

/// A counter, and a clock that drifts against it by `ppm(seconds)`.
class Clocks {
 public:
  explicit Clocks(std::function<double(double)> ppm) : ppm_(std::move(ppm)) {}

  void pass(double seconds) {
    ns_ += seconds * 1e9 * (1 + ppm_(seconds_) * 1e-6);
    seconds_ += seconds;
  }
  void set_back(double ns) { ns_ -= ns; }
  [[nodiscard]] std::uint64_t ticks() const {
    return 1'000'000'000'000 + static_cast<std::uint64_t>(seconds_ * kGhz * 1e9);
  }
  [[nodiscard]] std::int64_t ns() const { return kStartNs + static_cast<std::int64_t>(ns_); }
  /// As seen by calibrate(): the time has an error of up to 20 ns.
  [[nodiscard]] TickSample sample() {
    return {ticks(), ns() + std::uniform_int_distribution<std::int64_t>(-20, 20)(random_)};
  }

 private:
  std::function<double(double)> ppm_;
  double seconds_ = 0, ns_ = 0;
  std::mt19937 random_{1};
};

struct Worst {
  std::int64_t error_ns = 0;      // of a time between two samples, just before the second
  std::int64_t backwards_ns = 0;  // when a line replaces the previous one
};

/// Takes `count` samples, `pause()` seconds apart, and checks the line just before each.
Worst follow(Clocks& clocks, int count, const std::function<double()>& pause) {
  TickRate rate;
  TickLine line;
  Worst worst;
  for (int i = 0; i < count; ++i) {
    clocks.pass(pause());
    const bool holds = line.ns_per_tick != 0 && line.holds(clocks.ticks());
    const std::int64_t before_ns = holds ? line.ns(clocks.ticks()) : 0;
    if (holds) worst.error_ns = std::max(worst.error_ns, std::abs(before_ns - clocks.ns()));
    line = rate.add(clocks.sample());
    if (holds && line.ns_per_tick != 0)
      worst.backwards_ns = std::max(worst.backwards_ns, before_ns - line.ns(clocks.ticks()));
  }
  return worst;
}

}  // namespace

TEST_CASE("over two hours of NTP steering the error of the line is less than a microsecond") {
  // A crystal that warms up and cools down, and NTP corrections every 64 s.
  Clocks clocks([](double s) { return 12 + 3 * std::sin(s / 900) + 2 * std::floor(std::fmod(s / 64, 3)); });

  const Worst worst = follow(clocks, 720'000, [] { return 0.01; });

  CHECK(worst.error_ns < 1'000);
  CHECK(worst.backwards_ns <= 1);
}

TEST_CASE("the line follows the clock also if the drain thread is often late") {
  Clocks clocks([](double s) { return 12 + 3 * std::sin(s / 900); });
  std::mt19937 random(2);

  const Worst worst =
      follow(clocks, 40'000, [&] { return std::uniform_real_distribution<double>(0.005, 0.4)(random); });

  CHECK(worst.error_ns < 1'000);
  CHECK(worst.backwards_ns <= 1);
}

TEST_CASE("after the clock is set there is no line until its rate is measured again") {
  Clocks clocks([](double) { return 0.0; });
  TickRate rate;
  TickLine line;
  for (int i = 0; i < 100; ++i) {
    clocks.pass(0.01);
    line = rate.add(clocks.sample());
  }
  REQUIRE(line.ns_per_tick != 0);

  clocks.set_back(5e9);
  clocks.pass(0.01);
  line = rate.add(clocks.sample());
  CHECK(line.ns_per_tick == 0);
  for (int i = 0; i < 5; ++i) {
    clocks.pass(0.01);
    line = rate.add(clocks.sample());
  }

  REQUIRE(line.ns_per_tick != 0);
  CHECK(std::abs(line.ns(clocks.ticks()) - clocks.ns()) < 100);
}

TEST_CASE("after a pause of more than a second there is no line until it is measured again") {
  Clocks clocks([](double) { return 0.0; });
  TickRate rate;
  TickLine line;
  for (int i = 0; i < 100; ++i) {
    clocks.pass(0.01);
    line = rate.add(clocks.sample());
  }
  clocks.pass(1.1);

  CHECK_FALSE(line.holds(clocks.ticks()));
  CHECK(rate.add(clocks.sample()).ns_per_tick == 0);
}

TEST_CASE("a counter read before the start of a line is not mistaken for a very late one") {
  TickLine line;
  line.at = {1'000'000, kStartNs};
  line.ns_per_tick = std::uint64_t{1} << 31;
  line.valid_ticks = 1'000;

  CHECK(line.holds(1'000'000));
  CHECK(line.ns(1'000'010) == kStartNs + 5);
  CHECK_FALSE(line.holds(999'999));
  CHECK_FALSE(line.holds(1'001'000));
}

TEST_CASE("a clock without calibration is the kernel's") {
  const TscClock clock;

  const std::int64_t before_ns = clock_now_ns();
  const std::int64_t now_ns = clock.now_ns();

  CHECK_FALSE(clock.running());
  CHECK(now_ns >= before_ns);
  CHECK(now_ns <= clock_now_ns());
}

TEST_CASE("this machine's counter agrees with its clock") {
  TscClock clock;
  const std::int64_t until_ns = clock_now_ns() + 300'000'000;
  std::int64_t worst_ns = 0;
  while (clock_now_ns() < until_ns) {
    clock.calibrate();
    // Our time must be between two readings of the kernel's clock; the excess is the error. An interruption
    // between the readings adds none.
    const std::int64_t before_ns = clock_now_ns(), now_ns = clock.now_ns(), after_ns = clock_now_ns();
    worst_ns = std::max({worst_ns, before_ns - now_ns, now_ns - after_ns});
  }

  if (!clock.running()) {
    WARN("skipped: the kernel does not keep time by the processor's counter here");
    return;
  }
  CHECK(worst_ns < 1'000);
}

TEST_CASE("threads that read while the line changes never see half of one") {
  TscClock clock;
  std::atomic<bool> ended{false};
  std::thread drain([&] {
    for (int i = 0; i < 60; ++i) {
      clock.calibrate();
      const std::int64_t until_ns = clock_now_ns() + 1'100'000;  // a new line needs more than 1 ms
      while (clock_now_ns() < until_ns) {
      }
    }
    ended = true;
  });

  std::int64_t worst_ns = 0;
  while (!ended) {
    const std::int64_t before_ns = clock_now_ns(), now_ns = clock.now_ns(), after_ns = clock_now_ns();
    worst_ns = std::max({worst_ns, before_ns - now_ns, now_ns - after_ns});
  }
  drain.join();

  CHECK(worst_ns < 100'000);  // a mix of two lines would be off by milliseconds
}
