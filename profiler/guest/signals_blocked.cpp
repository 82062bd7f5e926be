// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/signals_blocked.h"

#include <cerrno>
#include <initializer_list>

#include "profiler/guest/own_thread.h"

namespace rangefinder {
namespace {

sigset_t blockable_signals() noexcept {
  sigset_t signals;
  sigfillset(&signals);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) sigdelset(&signals, own);
  return signals;
}

}  // namespace

SignalsBlocked::SignalsBlocked() noexcept : blocked_(!on_own_thread()) {
  if (!blocked_) return;
  const sigset_t signals = blockable_signals();
  blocked_ = pthread_sigmask(SIG_BLOCK, &signals, &before_) == 0;
}

SignalsBlocked::~SignalsBlocked() {
  if (!blocked_) return;
  const int error = errno;  // of the calls made while signals were blocked
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

}  // namespace rangefinder
