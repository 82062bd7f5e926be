// SPDX-License-Identifier: Apache-2.0
//
// While one of these exists, pthread_cancel() does not end this thread: that happens at the next cancellation
// point after it.
//
// For calls on an application thread that may wait, or read and write files. Cancellation there would unwind
// through our `noexcept` functions, which ends the program.
#pragma once

#include <pthread.h>

namespace rangefinder {

class ScopedCancelDisable {
 public:
  ScopedCancelDisable() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~ScopedCancelDisable() { pthread_setcancelstate(before_, nullptr); }
  ScopedCancelDisable(const ScopedCancelDisable&) = delete;
  ScopedCancelDisable& operator=(const ScopedCancelDisable&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace rangefinder
