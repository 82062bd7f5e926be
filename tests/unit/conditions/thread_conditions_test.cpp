// SPDX-License-Identifier: Apache-2.0
#include "profiler/conditions/thread_conditions.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include "profiler/conditions/condition_value.h"
#include "tests/catch.h"
#include "tests/unit/conditions/fake_tree.h"

namespace rangefinder {
namespace {

using test::FakeTree;

constexpr std::int64_t kSecond = 1'000'000'000;
const std::uint64_t kMinChangeMs = kConditions[static_cast<std::size_t>(Condition::cpu_ms)].least;

std::uint64_t cost_of_scan_ns = 0, cost_so_far_ns = 0;
/// Each scan costs `cost_of_scan_ns`: it reads the clock at its start and at its end.
std::uint64_t fake_cost() {
  static bool starts = false;
  starts = !starts;
  return starts ? cost_so_far_ns : cost_so_far_ns += cost_of_scan_ns;
}

std::map<std::uint32_t, std::uint64_t> scan(ThreadConditions& threads, std::int64_t now_ns = 0) {
  std::map<std::uint32_t, std::uint64_t> found;
  threads.scan(now_ns, 7, [&found](const ConditionRecord& record) {
    CHECK(record.subject == ConditionOf::thread);
    CHECK(record.at_ns == 7);
    found[record.id] = value_of(record.values, Condition::cpu_ms).value();
  });
  return found;
}

/// Uses CPU time until the thread has used `ms` more.
void use_cpu(std::uint64_t ms) {
  const std::uint64_t until_ns = thread_cpu_ns() + ms * 1'000'000;
  while (thread_cpu_ns() < until_ns) {
  }
}

TEST_CASE("a busy thread has its CPU time, an idle one no record") {
  std::atomic<std::uint32_t> busy{0}, idle{0};
  std::atomic<int> ready{0};
  std::atomic<bool> done{false};
  std::thread busy_thread([&] {
    busy = static_cast<std::uint32_t>(gettid());
    use_cpu(2 * kMinChangeMs);
    ++ready;
    done.wait(false);
  });
  std::thread idle_thread([&] {
    idle = static_cast<std::uint32_t>(gettid());
    ++ready;
    done.wait(false);
  });
  while (ready != 2) std::this_thread::yield();
  ThreadConditions threads;

  const auto first = scan(threads), second = scan(threads);
  threads.forget();
  const auto third = scan(threads);
  done = true;
  done.notify_all();
  busy_thread.join();
  idle_thread.join();

  REQUIRE(first.count(busy) == 1);
  CHECK(first.at(busy) >= 2 * kMinChangeMs);
  CHECK(first.count(idle) == 0);
  CHECK(second.count(busy) == 0);  // no change
  REQUIRE(third.count(busy) == 1);
  CHECK(third.at(busy) == first.at(busy));
}

TEST_CASE("a thread has its next record when its time has grown by the least change") {
  const auto self = static_cast<std::uint32_t>(gettid());
  ThreadConditions threads;
  use_cpu(kMinChangeMs);
  const auto first = scan(threads);

  use_cpu(kMinChangeMs + 1);
  const auto second = scan(threads);

  REQUIRE(first.count(self) == 1);
  REQUIRE(second.count(self) == 1);
  CHECK(second.at(self) >= first.at(self) + kMinChangeMs);
}

TEST_CASE("scans are a second apart, or more if they are expensive") {
  const FakeTree tree;
  tree.write("/proc/self/task/1/comm", "x");
  ThreadConditions threads(tree.root(), &fake_cost);
  CHECK(threads.is_due(0));

  cost_of_scan_ns = 1000;
  (void)scan(threads, 5 * kSecond);
  CHECK_FALSE(threads.is_due(6 * kSecond - 1));
  CHECK(threads.is_due(6 * kSecond));

  cost_of_scan_ns = 2'000'000;  // 0.05 % of 4 s
  (void)scan(threads, 6 * kSecond);
  CHECK_FALSE(threads.is_due(10 * kSecond - 1));
  CHECK(threads.is_due(10 * kSecond));
}

TEST_CASE("threads beyond the bound are skipped and counted") {
  const FakeTree tree;
  for (std::size_t i = 1; i <= ThreadConditions::kMaxThreads + 3; ++i)
    std::filesystem::create_directories(tree.root() + "/proc/self/task/" + std::to_string(i));
  ThreadConditions threads(tree.root());

  (void)scan(threads);
  CHECK(threads.skipped() == 3);
  (void)scan(threads);
  CHECK(threads.skipped() == 6);
}

TEST_CASE("ended threads make room for others") {
  const FakeTree tree;
  const std::string folder = tree.root() + "/proc/self/task/";
  for (std::size_t i = 1; i <= ThreadConditions::kMaxThreads; ++i)
    std::filesystem::create_directories(folder + std::to_string(i));
  ThreadConditions threads(tree.root());
  (void)scan(threads);

  std::filesystem::remove(folder + "1");
  (void)scan(threads);
  std::filesystem::create_directories(folder + "100000");
  (void)scan(threads);

  CHECK(threads.skipped() == 0);
}

TEST_CASE("without /proc there are no records and no harm") {
  const FakeTree tree;
  ThreadConditions threads(tree.root());

  CHECK(scan(threads).empty());
  CHECK_FALSE(threads.is_due(0));
}

}  // namespace
}  // namespace rangefinder
