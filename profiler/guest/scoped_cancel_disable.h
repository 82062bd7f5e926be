// SPDX-License-Identifier: Apache-2.0
//
// While one of these lives, pthread_cancel() does not end this thread: it does at the next chance after.
//
// For calls that may wait, or read and write files, on a thread of the application. A cancelled one unwinds
// from there, through functions of ours that nothing may be thrown from: that ends the program.
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
