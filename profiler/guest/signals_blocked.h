// SPDX-License-Identifier: Apache-2.0
//
// While one of these exists, no signal handler of the application runs on this thread.
//
// For calls that take a lock of the C library. Without it, a handler that forks in the middle of our malloc
// would wait for the heap lock, which its own thread holds. Signals that the thread itself raises (SIGSEGV
// and similar, SIGABRT) stay unblocked: blocked, they would end the process. Costs two system calls; none on
// our own threads, which have all signals blocked (own_thread.h).
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
