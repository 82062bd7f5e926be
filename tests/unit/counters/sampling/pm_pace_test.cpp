// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_pace.h"

#include <cmath>
#include <string_view>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint32_t kInterval = 20'000;

/// A simulated host with a given sampling cost, checked every 5 ms.
class Host {
 public:
  explicit Host(std::uint32_t max_cpu_percent) : pace_(max_cpu_percent) { pace_.begin(0); }

  /// Runs until the pace changes, at most `ms`.
  std::optional<PmPace::Change> run(int ms, double cores, double lost) {
    for (int i = 0; i < ms / 5; ++i) {
      work_.now_ns += 5 * kMs;
      work_.cpu_ns += static_cast<std::uint64_t>(cores * 5 * kMs);
      lost_samples_ += lost * 250;
      work_.lost = static_cast<std::uint64_t>(lost_samples_);
      work_.samples = static_cast<std::uint64_t>(work_.now_ns / kInterval) - work_.lost;
      if (const auto change = pace_.check(work_, kInterval)) return change;
    }
    return std::nullopt;
  }
  [[nodiscard]] std::int64_t now_ms() const { return work_.now_ns / kMs; }

 private:
  PmPace pace_;
  PmPace::Work work_;
  double lost_samples_ = 0;
};

bool is_about(std::uint32_t interval_ns, double expected_ns) {
  return std::abs(interval_ns - expected_ns) < 0.01 * expected_ns;
}

}  // namespace

TEST_CASE("within the CPU limit and without loss the interval stays") {
  CHECK_FALSE(Host(100).run(60'000, 0.99, 0).has_value());
  CHECK_FALSE(Host(100).run(60'000, 0.99, 0.019).has_value());
}

TEST_CASE("above the CPU limit the interval grows in proportion, plus headroom") {
  Host host(100);
  const auto change = host.run(60'000, 1.2, 0);
  REQUIRE(change.has_value());
  CHECK(change->reason == std::string_view("cpu"));
  CHECK(change->interval_ns == static_cast<std::uint32_t>(kInterval * 1.2 * PmPace::kCpuRoom));
  CHECK(host.now_ms() == 100 + 5 + 2 * 250 - 5);
  CHECK(Host(50).run(60'000, 0.6, 0).has_value());
  Host uneven(100);
  CHECK_FALSE(uneven.run(350, 1.3, 0).has_value());
  CHECK(uneven.run(260, 1.01, 0)->interval_ns == Approx(kInterval * 1.3 * PmPace::kCpuRoom).epsilon(0.03));
}

TEST_CASE("without a limit any CPU time is allowed") {
  CHECK_FALSE(Host(0).run(60'000, 3, 0).has_value());
}

TEST_CASE("the warm-up is ignored, and so is a single bad period") {
  Host host(100);
  CHECK_FALSE(host.run(100, 4, 0.9).has_value());
  CHECK_FALSE(host.run(250, 2, 0.2).has_value());
  CHECK_FALSE(host.run(60'000, 0.9, 0).has_value());
}

TEST_CASE("threads that do not keep up get an interval at which they would") {
  Host little(100);
  const auto change = little.run(60'000, 0.9, 0.05);
  REQUIRE(change.has_value());
  CHECK(change->reason == std::string_view("behind"));
  CHECK(is_about(change->interval_ns, kInterval / 0.95 * PmPace::kLostRoom));
  CHECK(little.now_ms() >= 100 + 2 * 250);

  Host much(100);
  const auto at_once = much.run(60'000, 0.9, 0.5);
  REQUIRE(at_once.has_value());
  CHECK(is_about(at_once->interval_ns, kInterval / 0.5 * PmPace::kLostRoom));
  CHECK(much.now_ms() < 100 + 2 * 250);

  const auto all = Host(100).run(60'000, 0.9, 1);
  REQUIRE(all.has_value());
  CHECK(is_about(all->interval_ns, kInterval / 0.25 * PmPace::kLostRoom));
}

TEST_CASE("begin() discards earlier periods") {
  PmPace pace(100);
  pace.begin(0);
  CHECK_FALSE(pace.check({100 * kMs, 0, 0, 0}, kInterval).has_value());
  CHECK_FALSE(pace.check({350 * kMs, 500 * kMs, 0, 0}, kInterval).has_value());
  pace.begin(400 * kMs);
  CHECK_FALSE(pace.check({500 * kMs, 800 * kMs, 0, 0}, kInterval).has_value());
  CHECK_FALSE(pace.check({750 * kMs, 1'300 * kMs, 0, 0}, kInterval).has_value());
  CHECK(pace.check({1'000 * kMs, 1'800 * kMs, 0, 0}, kInterval).has_value());
}
