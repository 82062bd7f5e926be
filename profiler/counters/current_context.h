// SPDX-License-Identifier: Apache-2.0
//
// Pushes a context on the calling thread and pops it on destruction, through the driver
// that is already loaded. For our own thread, which has no context; on an application's
// thread the previous context is restored.
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
