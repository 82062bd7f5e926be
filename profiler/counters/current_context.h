// SPDX-License-Identifier: Apache-2.0
//
// Makes a context the calling thread's current one for a while, by the driver that is
// loaded already. For our own thread, which has none; an application's thread gets back
// what it had.
#pragma once

#include <cuda.h>

namespace rangefinder {

class CurrentContext {
 public:
  explicit CurrentContext(CUcontext context) noexcept;
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  [[nodiscard]] bool ok() const noexcept { return pushed_; }

 private:
  bool pushed_ = false;
};

}  // namespace rangefinder
