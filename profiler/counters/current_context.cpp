// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/current_context.h"

#include <dlfcn.h>

namespace rangefinder {
namespace {

template <typename Function>
Function driver_function(const char* name) noexcept {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  return driver == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(driver, name));
}

}  // namespace

CurrentContext::CurrentContext(CUcontext context) noexcept {
  const auto push = driver_function<CUresult (*)(CUcontext)>("cuCtxPushCurrent_v2");
  pushed_ = push != nullptr && push(context) == CUDA_SUCCESS;
}

CurrentContext::~CurrentContext() {
  if (!pushed_) return;
  CUcontext popped = nullptr;
  if (const auto pop = driver_function<CUresult (*)(CUcontext*)>("cuCtxPopCurrent_v2"); pop != nullptr)
    pop(&popped);
}

}  // namespace rangefinder
