// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/fork_locks.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "profiler/events/recorder.h"
#include "profiler/guest/host_lock.h"
#include "tests/catch.h"
#include "tests/retried.h"
#include "tests/unit/guest/in_a_signal.h"

using namespace rangefinder;

TEST_CASE("a forking thread holds all locks, and its own fork handlers may enter") {
  HostMutex mutex;
  ForkLocks locks;
  locks.add(mutex);
  begin_fork(locks);
  {
    const HostLock section(mutex);
    CHECK(section);
    bool entered = true;
    in_a_signal([&] { entered = static_cast<bool>(HostLock(mutex)); });
    CHECK_FALSE(entered);
  }
  CHECK_FALSE(mutex.try_lock());  // fork() still holds it after the section
  in_a_signal([&] {               // a fork in the handler takes no lock and releases none
    begin_fork(locks);
    end_fork(locks);
  });
  CHECK_FALSE(mutex.try_lock());
  end_fork(locks);

  CHECK(mutex.try_lock());
  mutex.unlock();
}

TEST_CASE("a fork that times out on a lock takes none, nor does its child") {
  Recorder& own = recorder();
  CHECK(test::retried_once("a fork that times out on a lock", [&own] {
    std::atomic<bool> locked{false}, forked{false};
    std::thread other([&] {
      const std::lock_guard held(own.names.mutex());
      locked = true;
      while (!forked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    while (!locked) std::this_thread::yield();
    const pid_t child = fork();
    if (child == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2100));  // back to the long patience
      const auto begin = std::chrono::steady_clock::now();
      if (fork() == 0) _exit(0);  // takes no lock: here nothing would release them
      const bool soon = std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(500);
      _exit(soon && own.silent && own.names.intern("in the child") == kOtherName ? 4 : 5);
    }
    forked = true;
    other.join();
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 4;
  }));

  CHECK(own.paths.mutex().try_lock());
  own.paths.mutex().unlock();
  CHECK(own.names.intern("after such a fork") != kOtherName);
}

TEST_CASE("a handler that forks inside a section hangs neither process") {
  Recorder& own = recorder();
  int status = -1;
  {
    const HostLock section(own.names.mutex());
    in_a_signal([&] {
      const pid_t child = fork();
      if (child == 0) {
        _exit(own.silent && own.names.intern("in the child") == kOtherName ? 4 : 5);
      }
      waitpid(child, &status, 0);
    });
  }

  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 4);
  CHECK_FALSE(own.silent);
  CHECK(own.names.intern("afterwards") != kOtherName);
}
