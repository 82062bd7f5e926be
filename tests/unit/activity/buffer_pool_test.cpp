// SPDX-License-Identifier: Apache-2.0
#include "profiler/activity/buffer_pool.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <thread>
#include <vector>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

bool all_zero(const std::uint8_t* buffer) {
  return std::all_of(buffer, buffer + BufferPool::kBufferBytes, [](std::uint8_t byte) { return byte == 0; });
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("buffers are drained in the order in which they were filled") {
  LossLedger loss;
  BufferPool pool(3, loss);
  std::uint8_t* const first = pool.take().data;
  std::uint8_t* const second = pool.take().data;

  pool.complete(second, 20);
  pool.complete(first, 10);

  const FilledBuffer a = pool.next(), b = pool.next(), none = pool.next();
  CHECK(a.data == second);
  CHECK(a.valid_bytes == 20);
  CHECK(b.data == first);
  CHECK(b.valid_bytes == 10);
  CHECK(none.data == nullptr);
}

TEST_CASE("buffers are aligned to 8 bytes and do not overlap") {
  LossLedger loss;
  BufferPool pool(4, loss);
  std::map<std::uintptr_t, std::size_t> lent;  // begin and bytes

  for (LentBuffer buffer = pool.take(); buffer.data != nullptr; buffer = pool.take())
    lent[reinterpret_cast<std::uintptr_t>(buffer.data)] = buffer.bytes;

  REQUIRE(lent.size() == pool.capacity());
  std::uintptr_t last_end = 0;
  for (const auto& [start, bytes] : lent) {
    CHECK(start % 8 == 0);
    CHECK(start >= last_end);
    last_end = start + bytes;
  }
}

TEST_CASE("after the large buffers, small ones are lent, up to the requested memory") {
  LossLedger loss;
  BufferPool pool(8, loss);
  std::vector<LentBuffer> lent;
  for (LentBuffer buffer = pool.take(); buffer.data != nullptr; buffer = pool.take()) lent.push_back(buffer);

  REQUIRE(lent.size() == 6 + 32);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < lent.size(); ++i) {
    CHECK(lent[i].bytes == (i < 6 ? BufferPool::kBufferBytes : BufferPool::kSmallBytes));
    bytes += lent[i].bytes;
  }
  CHECK(bytes == 8 * BufferPool::kBufferBytes);
  CHECK(pool.peak_in_flight() == 8);
  CHECK(loss.get(Loss::activity_buffers_exhausted) == 1);

  pool.complete(lent.back().data, 100);
  pool.complete(lent[0].data, 100);
  CHECK(pool.take().data == nullptr);
  for (int i = 0; i < 2; ++i) pool.give_back(pool.next());
  CHECK(pool.take().data == lent[0].data);  // the large one first
  const LentBuffer small = pool.take();
  CHECK(small.data == lent.back().data);
  CHECK(small.bytes == BufferPool::kSmallBytes);
}

TEST_CASE("small buffers count in the peak by their memory") {
  LossLedger loss;
  BufferPool pool(4, loss);
  for (int i = 0; i < 3; ++i) (void)pool.take();
  CHECK(pool.peak_in_flight() == 3);
  for (int i = 0; i < 8; ++i) (void)pool.take();
  CHECK(pool.peak_in_flight() == 4);
}

TEST_CASE("when all buffers are in flight, take() returns none and counts it until one is returned") {
  LossLedger loss;
  BufferPool pool(2, loss);
  std::uint8_t* const one = pool.take().data;
  REQUIRE(pool.take().data != nullptr);

  CHECK(pool.take().data == nullptr);
  CHECK(pool.take().data == nullptr);
  CHECK(loss.get(Loss::activity_buffers_exhausted) == 2);

  pool.complete(one, 8);
  CHECK(pool.take().data == nullptr);  // filled, and not yet read
  pool.give_back(pool.next());
  CHECK(pool.take().data == one);
  CHECK(loss.get(Loss::activity_buffers_exhausted) == 3);
}

TEST_CASE("a buffer is zeroed each time it is lent") {
  LossLedger loss;
  BufferPool pool(1, loss);
  std::uint8_t* buffer = pool.take().data;
  CHECK(all_zero(buffer));
  std::memset(buffer, 0xab, 5000);
  pool.complete(buffer, 5000);
  pool.give_back(pool.next());

  buffer = pool.take().data;

  CHECK(all_zero(buffer));
}

TEST_CASE("a buffer without records is free at once") {
  LossLedger loss;
  BufferPool pool(1, loss);

  pool.complete(pool.take().data, 0);

  CHECK(pool.next().data == nullptr);
  CHECK(pool.take().data != nullptr);
}

TEST_CASE("completing nullptr is ignored") {
  LossLedger loss;
  BufferPool pool(1, loss);

  pool.complete(nullptr, 100);

  CHECK(pool.next().data == nullptr);
}

TEST_CASE("the peak is the maximum number of buffers in flight at once") {
  LossLedger loss;
  BufferPool pool(4, loss);
  std::uint8_t* const one = pool.take().data;
  std::uint8_t* const two = pool.take().data;
  pool.complete(one, 0);
  pool.complete(two, 0);

  pool.complete(pool.take().data, 0);

  CHECK(pool.peak_in_flight() == 2);
}

TEST_CASE("threads that fill and one that drains neither lose nor duplicate a buffer") {
  constexpr std::uint32_t kFillers = 3, kRounds = 3000;
  LossLedger loss;
  BufferPool pool(4, loss);
  std::atomic<std::uint32_t> running{kFillers};
  std::vector<std::uint64_t> seen(kFillers, 0);
  std::vector<std::thread> fillers;
  for (std::uint32_t filler = 0; filler < kFillers; ++filler) {
    fillers.emplace_back([&pool, &running, filler] {
      for (std::uint32_t i = 0; i < kRounds;) {
        std::uint8_t* const buffer = pool.take().data;
        if (buffer == nullptr) {
          std::this_thread::yield();
          continue;
        }
        std::memcpy(buffer, &filler, sizeof(filler));
        pool.complete(buffer, sizeof(filler));
        ++i;
      }
      --running;
    });
  }

  std::uint64_t wrong = 0;
  for (bool last = false; !last;) {
    last = running.load() == 0;
    for (FilledBuffer filled = pool.next(); filled.data != nullptr; filled = pool.next()) {
      std::uint32_t filler = 0;
      std::memcpy(&filler, filled.data, sizeof(filler));
      if (filled.valid_bytes == sizeof(filler) && filler < kFillers)
        ++seen[filler];
      else
        ++wrong;
      pool.give_back(filled);
    }
  }
  for (std::thread& filler : fillers) filler.join();

  CHECK(wrong == 0);
  CHECK(seen == std::vector<std::uint64_t>(kFillers, kRounds));
  CHECK(pool.peak_in_flight() <= 4);
}

TEST_CASE("no buffer is prepared before the first take()") {
  LossLedger loss;
  BufferPool pool(8, loss);

  pool.make_ready();
  std::uint8_t* const buffer = pool.take().data;
  pool.complete(buffer, 0);

  CHECK(pool.peak_in_flight() == 1);
  CHECK(pool.take().data == buffer);
}

TEST_CASE("after the first take() some buffers are ready, and the last used one is lent first") {
  LossLedger loss;
  BufferPool pool(8, loss);
  std::uint8_t* const used = pool.take().data;
  pool.make_ready();
  pool.complete(used, 8);
  pool.give_back(pool.next());

  CHECK(pool.take().data == used);
  for (std::size_t i = 0; i < BufferPool::kReady; ++i) {
    std::uint8_t* const ready = pool.take().data;
    REQUIRE(ready != nullptr);
    CHECK(all_zero(ready));
  }
  CHECK(pool.peak_in_flight() == 1 + BufferPool::kReady);
}

TEST_CASE("no buffers are prepared beyond the limit, and none after recording has ended") {
  LossLedger loss;
  BufferPool pool(3, loss);
  REQUIRE(pool.take().data != nullptr);
  pool.make_ready();
  pool.make_ready();
  REQUIRE(pool.take().data != nullptr);
  REQUIRE(pool.take().data != nullptr);

  CHECK(pool.take().data == nullptr);
  CHECK(loss.get(Loss::activity_buffers_exhausted) == 1);
  pool.close();
  pool.make_ready();
  CHECK(pool.take().data == nullptr);
}

TEST_CASE("after a window only a few buffers keep their memory, and lent ones stay valid") {
  LossLedger loss;
  BufferPool pool(16, loss);
  std::vector<LentBuffer> lent;
  for (LentBuffer buffer = pool.take(); buffer.data != nullptr; buffer = pool.take()) lent.push_back(buffer);
  const std::size_t small = pool.capacity() - 12;
  REQUIRE(lent.size() == 12 + small);
  for (const LentBuffer& buffer : lent) std::memset(buffer.data, 1, buffer.bytes);
  const LentBuffer kept_large = lent.front(), kept_small = lent.back();
  for (std::size_t i = 1; i + 1 < lent.size(); ++i) {
    pool.complete(lent[i].data, lent[i].bytes);
    pool.give_back(pool.next());
  }

  pool.shrink();  // one of each is still lent
  CHECK(kept_large.data[BufferPool::kBufferBytes - 1] == 1);
  CHECK(kept_small.data[BufferPool::kSmallBytes - 1] == 1);
  pool.complete(kept_large.data, 0);
  pool.complete(kept_small.data, 0);
  pool.shrink();

  // Buffers lent from now on are valid again.
  std::size_t large = 0, all = 0;
  for (LentBuffer buffer = pool.take(); buffer.data != nullptr; buffer = pool.take(), ++all) {
    if (buffer.bytes != BufferPool::kBufferBytes) continue;
    ++large;
    if (large > BufferPool::kReady) CHECK(all_zero(buffer.data));
  }
  CHECK(large == 12);
  CHECK(all == lent.size());
}

TEST_CASE("memory released after a window is no longer resident") {
  LossLedger loss;
  BufferPool pool(32, loss);
  std::vector<LentBuffer> lent;
  for (LentBuffer buffer = pool.take(); buffer.data != nullptr; buffer = pool.take()) {
    std::memset(buffer.data, 1, buffer.bytes);
    lent.push_back(buffer);
  }
  for (const LentBuffer& buffer : lent) pool.complete(buffer.data, 0);
  const std::size_t before = resident_bytes();

  pool.shrink();

  CHECK(resident_bytes() + (24 - BufferPool::kReady) * BufferPool::kBufferBytes < before);
}
