// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/own_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <cstddef>
#include <memory>
#include <new>

namespace rangefinder {
namespace {

constexpr std::size_t kThreadStackBytes = std::size_t{1} << 20;

thread_local bool t_own = false;

struct Begin {
  const char* name;
  void (*run)(void* self);
  void* self;
};

// A thread inherits the scheduling policy of its creator. At a real-time priority we would keep other threads
// and processes from a core, since sampling takes most of one. Our work can wait.
void leave_real_time() noexcept {
  const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  constexpr sched_param kNone{};
  if (policy == SCHED_FIFO || policy == SCHED_RR) (void)sched_setscheduler(0, SCHED_OTHER, &kNone);
}

void* enter(void* argument) noexcept {
  t_own = true;
  leave_real_time();
  const std::unique_ptr<Begin> begin(static_cast<Begin*>(argument));
  pthread_setname_np(pthread_self(), begin->name);
  begin->run(begin->self);
  return nullptr;
}

}  // namespace

bool start_own_thread(const char* name, void (*run)(void* self), void* self) noexcept {
  std::unique_ptr<Begin> begin(new (std::nothrow) Begin{name, run, self});
  pthread_attr_t attributes;
  if (begin == nullptr || pthread_attr_init(&attributes) != 0) return false;
  // The mask applies from the new thread's first instruction; the caller's mask does not change.
  sigset_t all;
  sigfillset(&all);
  pthread_attr_setsigmask_np(&attributes, &all);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kThreadStackBytes);
  pthread_t thread{};
  const bool started = pthread_create(&thread, &attributes, &enter, begin.get()) == 0;
  pthread_attr_destroy(&attributes);
  if (started) (void)begin.release();
  return started;
}

bool on_own_thread() noexcept {
  return t_own;
}

}  // namespace rangefinder
