// SPDX-License-Identifier: Apache-2.0
#include "profiler/drain/contiguous_queue.h"

#include <algorithm>
#include <deque>
#include <random>

#include "tests/catch.h"

using rangefinder::ContiguousQueue;

TEST_CASE("a queue holds the same items as a deque after any sequence of operations") {
  const auto seed = GENERATE(1u, 2u, 3u);
  std::mt19937 random(seed);
  ContiguousQueue<int> queue;
  std::deque<int> deque;
  int next = 0;
  for (int round = 0; round < 400; ++round) {
    const auto pushes = random() % 3000;
    for (unsigned i = 0; i < pushes; ++i, ++next) {
      queue.push_back(next);
      deque.push_back(next);
    }
    for (auto pops = std::min<std::size_t>(random() % 4000, deque.size()); pops > 0; --pops) {
      REQUIRE(queue.front() == deque.front());
      queue.pop_front();
      deque.pop_front();
    }
    if (random() % 50 == 0) {
      queue.clear();
      deque.clear();
    }
    queue.shrink();
    REQUIRE(queue.size() == deque.size());
    REQUIRE(queue.empty() == deque.empty());
    REQUIRE(std::equal(queue.begin(), queue.end(), deque.begin(), deque.end()));
  }
}

TEST_CASE("items that pass through a queue do not make it allocate another block") {
  ContiguousQueue<std::size_t> queue;
  queue.push_back(0);
  const std::size_t* const block = &queue.front();
  constexpr std::size_t kWaiting = rangefinder::kLargeBytes / sizeof(std::size_t) / 4;
  for (std::size_t i = 1; i < kWaiting; ++i) queue.push_back(i);
  for (std::size_t i = 0; i < 100 * kWaiting; ++i) {
    queue.push_back(kWaiting + i);
    REQUIRE(queue.front() == i);
    queue.pop_front();
  }
  CHECK(queue.size() == kWaiting);
  const auto at = static_cast<std::size_t>(&queue.front() - block);
  CHECK(at < 4 * kWaiting);  // still in the first block
}
