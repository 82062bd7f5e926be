// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/large_blocks.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/catch.h"

using rangefinder::LargeBlocks;

TEST_CASE("a large block is zeroed, aligned, and writable to its end") {
  LargeBlocks blocks;
  constexpr std::size_t kBytes = LargeBlocks::kMinBytes + 1;
  auto* const memory = static_cast<unsigned char*>(blocks.allocate(kBytes, 64));
  REQUIRE(memory != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % 64 == 0);
  CHECK((memory[0] == 0 && memory[kBytes - 1] == 0));
  std::memset(memory, 1, kBytes);

  CHECK(blocks.give_back(memory));
  CHECK_FALSE(blocks.give_back(memory));
}

TEST_CASE("memory that is not a large block is not touched") {
  LargeBlocks blocks;
  int other = 0;
  alignas(4096) static std::byte page[4096];

  CHECK_FALSE(blocks.give_back(&other));
  CHECK_FALSE(blocks.give_back(page));
  CHECK_FALSE(blocks.give_back(&blocks));
}

TEST_CASE("impossible sizes and alignments return null and use no slot") {
  LargeBlocks blocks;
  for (std::size_t i = 0; i < LargeBlocks::kMaxBlocks + 1; ++i) {
    CHECK(blocks.allocate(~std::size_t{0}, 16) == nullptr);
    CHECK(blocks.allocate(std::size_t{1} << 60, 16) == nullptr);
    CHECK(blocks.allocate(LargeBlocks::kMinBytes, 8192) == nullptr);
  }
  void* const memory = blocks.allocate(LargeBlocks::kMinBytes, 4096);
  CHECK(memory != nullptr);
  CHECK(blocks.give_back(memory));
}

TEST_CASE("with all slots in use allocation returns null until one is given back") {
  LargeBlocks blocks;
  std::vector<void*> all;
  for (std::size_t i = 0; i < LargeBlocks::kMaxBlocks; ++i)
    all.push_back(blocks.allocate(LargeBlocks::kMinBytes, 16));
  CHECK(blocks.allocate(LargeBlocks::kMinBytes, 16) == nullptr);

  CHECK(blocks.give_back(all.back()));
  all.back() = blocks.allocate(LargeBlocks::kMinBytes, 16);
  CHECK(all.back() != nullptr);
  for (void* const memory : all) CHECK(blocks.give_back(memory));
}

TEST_CASE("threads never get the same large block") {
  LargeBlocks blocks;
  std::atomic<int> mixed{0};
  std::vector<std::thread> threads;
  for (int thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 2'000; ++i) {
        auto* const memory = static_cast<unsigned char*>(blocks.allocate(LargeBlocks::kMinBytes, 16));
        if (memory == nullptr) continue;
        std::memset(memory, thread, 64);
        for (int byte = 0; byte < 64; ++byte) mixed += memory[byte] != thread ? 1 : 0;
        mixed += blocks.give_back(memory) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(mixed == 0);
}
