// SPDX-License-Identifier: Apache-2.0
//
// Primary contexts, as the CUDA runtime uses them. They are reference counted: created at the first retain,
// destroyed at the last release or by a reset (cudaDeviceReset).
#include <cuda.h>

#include <array>
#include <mutex>

#include "tests/injection/fake_driver.h"

namespace {

struct Primary {
  CUcontext context = nullptr;
  int uses = 0;
};

std::mutex mutex;
std::array<Primary, 8> primaries;  // by device; guarded by mutex

CUresult end(Primary& primary) {
  CUcontext const context = primary.context;
  primary = {};
  return context != nullptr ? cuCtxDestroy(context) : CUDA_SUCCESS;
}

}  // namespace

FAKE_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const std::lock_guard lock(mutex);
  Primary& primary = primaries.at(static_cast<std::size_t>(device));
  if (primary.context == nullptr) {
    CUcontext const before = fake::current_context();
    if (const CUresult r = cuCtxCreate(&primary.context, nullptr, 0, device); r != CUDA_SUCCESS) return r;
    if (const CUresult r = cuCtxSetCurrent(before); r != CUDA_SUCCESS) return r;
  }
  ++primary.uses;
  *context = primary.context;
  return CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const std::lock_guard lock(mutex);
  Primary& primary = primaries.at(static_cast<std::size_t>(device));
  if (primary.uses == 0) return CUDA_ERROR_INVALID_CONTEXT;
  return --primary.uses == 0 ? end(primary) : CUDA_SUCCESS;
}

FAKE_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  const std::lock_guard lock(mutex);
  return end(primaries.at(static_cast<std::size_t>(device)));
}
