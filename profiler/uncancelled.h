// SPDX-License-Identifier: Apache-2.0
//
// While one of these lives, pthread_cancel() does not end this thread: it does at the next chance after.
//
// For calls that may wait, or read and write files, on a thread of the application. A cancelled one unwinds
// from there, through functions of ours that nothing may be thrown from: that ends the program.
#pragma once

#include <pthread.h>

namespace rangefinder {

class Uncancelled {
 public:
  Uncancelled() noexcept { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~Uncancelled() { pthread_setcancelstate(before_, nullptr); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace rangefinder
