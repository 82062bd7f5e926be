// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/environment.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include "tests/catch.h"

namespace {

/// Replaced arrays are leaked by design: a reader may still use one. The leak checker ignores them
/// here and stays on for everything else.
[[nodiscard]] bool set(const std::string& name, const std::string& value) {
#if defined(__SANITIZE_ADDRESS__)
  const __lsan::ScopedDisabler disabled;
#endif
  return rangefinder::set_environment(name, value);
}

std::string get(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "(not set)" : value;
}

std::size_t entries_of(std::string_view name) {
  std::size_t found = 0;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.substr(0, text.find('=')) == name) ++found;
  }
  return found;
}

std::string output_of(const char* command) {
  std::FILE* const pipe = popen(command, "r");
  REQUIRE(pipe != nullptr);
  std::string out;
  for (int c = 0; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  REQUIRE(pclose(pipe) == 0);
  return out;
}

}  // namespace

TEST_CASE("a new variable is visible and the others are kept") {
  const std::string path = get("PATH");

  REQUIRE(set("RANGEFINDER_TEST_NEW", "a=b c"));

  CHECK(get("RANGEFINDER_TEST_NEW") == "a=b c");
  CHECK(get("PATH") == path);
}

TEST_CASE("an existing variable is replaced, not duplicated") {
  REQUIRE(set("RANGEFINDER_TEST_TWICE", "first"));
  REQUIRE(set("RANGEFINDER_TEST_TWICE_TOO", "longer name"));

  REQUIRE(set("RANGEFINDER_TEST_TWICE", "second"));

  CHECK(get("RANGEFINDER_TEST_TWICE") == "second");
  CHECK(get("RANGEFINDER_TEST_TWICE_TOO") == "longer name");
  CHECK(entries_of("RANGEFINDER_TEST_TWICE") == 1);
}

TEST_CASE("an empty text is a value") {
  REQUIRE(set("RANGEFINDER_TEST_EMPTY", ""));

  CHECK(get("RANGEFINDER_TEST_EMPTY").empty());
}

TEST_CASE("the old array and old values stay readable") {
  REQUIRE(set("RANGEFINDER_TEST_OLD", "old"));
  char** const array = environ;
  const std::string_view first = array[0];
  const char* const value = std::getenv("RANGEFINDER_TEST_OLD");

  REQUIRE(set("RANGEFINDER_TEST_OLD", "new"));

  CHECK(environ != array);
  CHECK(array[0] == first.data());
  CHECK(std::strcmp(value, "old") == 0);
}

TEST_CASE("setenv and unsetenv still work afterwards") {
  REQUIRE(set("RANGEFINDER_TEST_SETENV", "ours"));

  REQUIRE(setenv("RANGEFINDER_TEST_SETENV", "theirs", 1) == 0);
  CHECK(get("RANGEFINDER_TEST_SETENV") == "theirs");
  REQUIRE(unsetenv("RANGEFINDER_TEST_SETENV") == 0);

  CHECK(std::getenv("RANGEFINDER_TEST_SETENV") == nullptr);
}

TEST_CASE("children inherit the variable") {
  REQUIRE(set("RANGEFINDER_TEST_CHILD", "from the parent"));

  CHECK(output_of("printf %s \"$RANGEFINDER_TEST_CHILD\"") == "from the parent");
}

TEST_CASE("a thread that reads the environment concurrently sees complete states only") {
  REQUIRE(set("RANGEFINDER_TEST_STEADY", "steady"));
  REQUIRE(set("RANGEFINDER_TEST_MOVING", "0"));
  std::atomic<bool> done{false};
  std::atomic<std::uint64_t> rounds{0}, wrong{0};
  std::thread reader([&] {
    int last = 0;
    while (!done.load()) {
      const char* const steady = std::getenv("RANGEFINDER_TEST_STEADY");
      const char* const moving = std::getenv("RANGEFINDER_TEST_MOVING");
      // getenv() is no synchronisation in C++. ThreadSanitizer needs one.
      (void)std::atomic_ref<char**>(environ).load(std::memory_order_acquire);
      if (steady == nullptr || std::strcmp(steady, "steady") != 0) ++wrong;
      const int now = moving == nullptr ? -1 : std::atoi(moving);
      if (now < last) ++wrong;  // missing, torn, or older than a value seen before
      last = now;
      ++rounds;
    }
  });

  for (int i = 1; i <= 2000; ++i) REQUIRE(set("RANGEFINDER_TEST_MOVING", std::to_string(i)));
  while (rounds.load() < 100) std::this_thread::yield();
  done = true;
  reader.join();

  CHECK(wrong == 0);
  CHECK(get("RANGEFINDER_TEST_MOVING") == "2000");
}
