// SPDX-License-Identifier: Apache-2.0
#include "profiler/own_thread.h"

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <memory>
#include <new>

namespace rangefinder {
namespace {

constexpr std::size_t kStackBytes = std::size_t{1} << 20;

thread_local bool t_own = false;

struct Begin {
  const char* name;
  void (*run)(void* self);
  void* self;
};

void* enter(void* argument) noexcept {
  t_own = true;
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
  // The mask is the new thread's from its first instruction; the caller's is never touched.
  sigset_t all;
  sigfillset(&all);
  pthread_attr_setsigmask_np(&attributes, &all);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, kStackBytes);
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
