// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/emergency_pool.h"

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "tests/catch.h"

using rangefinder::EmergencyPool;

TEST_CASE("half of the pool is reserved for allocations during unwinding") {
  auto pool = std::make_unique<EmergencyPool>();
  void* const half = pool->allocate(EmergencyPool::kBytes / 2, 16, false);
  REQUIRE(half != nullptr);

  CHECK(pool->allocate(1, 1, false) == nullptr);
  CHECK(pool->allocate(1, 1, true) != nullptr);
  CHECK(pool->allocate(EmergencyPool::kBytes / 2, 1, true) == nullptr);
}

TEST_CASE("memory from the pool is aligned and not shared") {
  auto pool = std::make_unique<EmergencyPool>();
  (void)pool->allocate(3, 1, false);
  for (const std::size_t alignment : {1, 8, 16, 64, 4096}) {
    void* const memory = pool->allocate(5, alignment, false);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    std::memset(memory, 1, 5);
  }
  CHECK(pool->allocate(1, 8192, false) == nullptr);
  CHECK(pool->allocate(~std::size_t{0} - 8, 16, true) == nullptr);
}

TEST_CASE("a pool starts again when all memory was given back") {
  auto pool = std::make_unique<EmergencyPool>();
  for (int i = 0; i < 10; ++i) {
    void* const first = pool->allocate(EmergencyPool::kBytes / 4, 16, false);
    void* const second = pool->allocate(EmergencyPool::kBytes / 4, 16, false);
    REQUIRE((first != nullptr && second != nullptr));
    CHECK(pool->give_back(first));
    CHECK(pool->give_back(second));
  }
}

TEST_CASE("memory that is not from the pool is not touched") {
  auto pool = std::make_unique<EmergencyPool>();
  int other = 0;

  CHECK_FALSE(pool->give_back(&other));
}

TEST_CASE("threads that share the pool never get the same bytes") {
  auto pool = std::make_unique<EmergencyPool>();
  std::atomic<int> mixed{0};
  std::vector<std::thread> threads;
  for (int thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 20'000; ++i) {
        auto* const memory = static_cast<unsigned char*>(pool->allocate(32, 16, false));
        if (memory == nullptr) continue;
        std::memset(memory, thread, 32);
        for (int byte = 0; byte < 32; ++byte) mixed += memory[byte] != thread ? 1 : 0;
        pool->give_back(memory);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(mixed == 0);
}
