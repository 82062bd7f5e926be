// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/large_stack.h"

#include <pthread.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "tests/catch.h"

using namespace rangefinder;

namespace {

/// Touches 700,000 bytes of stack and returns the sum of the touched ones.
[[gnu::noinline]] std::size_t use_stack() {
  volatile char bytes[700'000];
  for (std::size_t i = 0; i < sizeof(bytes); i += 512) bytes[i] = 1;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < sizeof(bytes); i += 512) sum += static_cast<std::size_t>(bytes[i]);
  return sum;
}

thread_local int of_this_thread = 0;

}  // namespace

TEST_CASE("a thread with a small stack can run work that needs a large one") {
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  REQUIRE(pthread_attr_setstacksize(&attributes, 65'536) == 0);
#endif
  std::size_t sum = 0;
  const auto run = [](void* out) -> void* {
    *static_cast<std::size_t*>(out) = on_large_stack([] { return use_stack(); });
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, &sum) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);

  CHECK(sum == (700'000 + 511) / 512);
}

TEST_CASE("work on the large stack runs in the same thread, and calls may nest") {
  of_this_thread = 7;
  const int found = on_large_stack([] { return on_large_stack([] { return ++of_this_thread; }); });

  CHECK(found == 8);
  CHECK(of_this_thread == 8);
}

TEST_CASE("an exception thrown on the large stack reaches the caller") {
  const auto fail = []() -> bool { throw std::runtime_error("no memory for " + std::string(40, 'x')); };

  CHECK_THROWS_AS(on_large_stack(fail), std::runtime_error);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // they need memory, too
TEST_CASE("without memory for a large stack, work runs on the thread's own stack or not at all") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  const rlimit none{1 << 20, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &none) == 0);
  const int not_at_all = on_large_stack([] { return 7; }, WithoutLargeStack::not_at_all);
  const int on_own = on_large_stack([] { return 8; });
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);

  CHECK(not_at_all == 0);
  CHECK(on_own == 8);
}
#endif
