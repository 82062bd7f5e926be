// SPDX-License-Identifier: Apache-2.0
//
// No handler of the application's runs on this thread while one of these lives.
//
// For calls that end in a lock of the C library's: a handler that forks in the middle of malloc waits for the
// heap's lock, which its own thread has, and would not be there without us. Signals that the thread itself
// brings about (SIGSEGV and its like, SIGABRT) are left alone: held back, they end the process. Two system
// calls; none on threads of ours, which have all signals blocked (own_thread.h).
#pragma once

#include <signal.h>

namespace rangefinder {

class SignalsBlocked {
 public:
  SignalsBlocked() noexcept;
  ~SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
  bool blocked_;
};

}  // namespace rangefinder
