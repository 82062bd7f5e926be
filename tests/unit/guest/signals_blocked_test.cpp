// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/signals_blocked.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <thread>

#include "profiler/guest/own_thread.h"
#include "tests/catch.h"

using rangefinder::SignalsBlocked;

namespace {

volatile sig_atomic_t handled = 0;

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

std::atomic<int> of_own_thread{0};  // 1: it is an own thread with its initial mask

}  // namespace

TEST_CASE("a handler runs when the block ends, and errno keeps its value") {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) { handled = handled + 1; };
  REQUIRE(sigaction(SIGALRM, &action, &before) == 0);
  sig_atomic_t meanwhile = 0;
  {
    const SignalsBlocked blocked;
    raise(SIGALRM);
    meanwhile = handled;
    errno = ENOMEM;
  }
  const int error = errno;
  sigaction(SIGALRM, &before, nullptr);

  CHECK(meanwhile == 0);
  CHECK(handled == 1);
  CHECK(error == ENOMEM);
}

TEST_CASE("signals that a thread raises itself are not blocked, others are and get their old mask back") {
  sigset_t usr2;
  sigemptyset(&usr2);
  sigaddset(&usr2, SIGUSR2);
  REQUIRE(pthread_sigmask(SIG_BLOCK, &usr2, nullptr) == 0);
  {
    const SignalsBlocked blocked;
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) CHECK_FALSE(is_blocked(own));
    for (const int other : {SIGALRM, SIGCHLD, SIGTERM, SIGPROF, SIGUSR2}) CHECK(is_blocked(other));
  }

  CHECK_FALSE(is_blocked(SIGALRM));
  CHECK(is_blocked(SIGUSR2));
  pthread_sigmask(SIG_UNBLOCK, &usr2, nullptr);
}

TEST_CASE("our own threads are recognised, and SignalsBlocked does not change their mask") {
  CHECK_FALSE(rangefinder::on_own_thread());
#if defined(__SANITIZE_ADDRESS__) && __GNUC__ == 13
  WARN("skipped: gcc 13's AddressSanitizer gives a new thread the mask of its creator");
  return;
#endif
  REQUIRE(rangefinder::start_own_thread(
      "test",
      [](void*) {
        const bool own = rangefinder::on_own_thread() && is_blocked(SIGALRM);
        const SignalsBlocked blocked;
        of_own_thread = own && is_blocked(SIGSEGV) ? 1 : 2;  // a block would have unblocked SIGSEGV
      },
      nullptr));
  while (of_own_thread == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));

  CHECK(of_own_thread == 1);
}
