// SPDX-License-Identifier: Apache-2.0
//
// The boundary between an application's thread and work of ours that may wait, open, read or write.
//
// While that work runs, pthread_cancel() does not end the thread: that happens at the next cancellation point
// after it. Otherwise cancellation would unwind through our `noexcept` functions, which ends the program.
#pragma once

#include <pthread.h>

namespace rangefinder {

/// Returns what `work` returns. May be nested. Not for every event: two calls of libpthread.
template <typename Work>
decltype(auto) slow_path(Work&& work) noexcept(noexcept(work())) {
  struct CancelDisabled {
    int before = PTHREAD_CANCEL_ENABLE;
    CancelDisabled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); }
    ~CancelDisabled() { pthread_setcancelstate(before, nullptr); }
  };
  const CancelDisabled disabled;
  return work();
}

}  // namespace rangefinder
