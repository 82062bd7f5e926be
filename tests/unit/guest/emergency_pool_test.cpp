// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/emergency_pool.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "tests/catch.h"

using rangefinder::EmergencyPool;

TEST_CASE("half of the reserve is for everybody, the other half for those who unwind") {
  auto reserve = std::make_unique<EmergencyPool>();
  void* const half = reserve->allocate(EmergencyPool::kBytes / 2, 16, false);
  REQUIRE(half != nullptr);

  CHECK(reserve->allocate(1, 1, false) == nullptr);
  CHECK(reserve->allocate(1, 1, true) != nullptr);
  CHECK(reserve->allocate(EmergencyPool::kBytes / 2, 1, true) == nullptr);
}

TEST_CASE("memory of the reserve is aligned, and its own") {
  auto reserve = std::make_unique<EmergencyPool>();
  (void)reserve->allocate(3, 1, false);
  for (const std::size_t alignment : {1, 8, 16, 64, 4096}) {
    void* const memory = reserve->allocate(5, alignment, false);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    std::memset(memory, 1, 5);
  }
  CHECK(reserve->allocate(1, 8192, false) == nullptr);
  CHECK(reserve->allocate(~std::size_t{0} - 8, 16, true) == nullptr);
}

TEST_CASE("a reserve of which all was given back begins again") {
  auto reserve = std::make_unique<EmergencyPool>();
  for (int i = 0; i < 10; ++i) {
    void* const first = reserve->allocate(EmergencyPool::kBytes / 4, 16, false);
    void* const second = reserve->allocate(EmergencyPool::kBytes / 4, 16, false);
    REQUIRE((first != nullptr && second != nullptr));
    CHECK(reserve->give_back(first));
    CHECK(reserve->give_back(second));
  }
}

TEST_CASE("memory that is not of the reserve is left alone") {
  auto reserve = std::make_unique<EmergencyPool>();
  int other = 0;

  CHECK_FALSE(reserve->give_back(&other));
}

TEST_CASE("threads that share the reserve never get the same bytes") {
  auto reserve = std::make_unique<EmergencyPool>();
  std::atomic<int> mixed{0};
  std::vector<std::thread> threads;
  for (int thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20'000; ++i) {
        auto* const memory = static_cast<unsigned char*>(reserve->allocate(32, 16, false));
        if (memory == nullptr) continue;
        std::memset(memory, thread, 32);
        for (int byte = 0; byte < 32; ++byte) mixed += memory[byte] != thread ? 1 : 0;
        reserve->give_back(memory);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(mixed == 0);
}
