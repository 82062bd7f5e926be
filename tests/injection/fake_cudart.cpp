// SPDX-License-Identifier: Apache-2.0
//
// A libcudart.so.13 that reports its version. In a Python wheel, libcupti is in the same folder.
#include <dlfcn.h>

#include "tests/injection/fake_tool.h"

FAKE_EXPORT int cudaRuntimeGetVersion(int* version) {
  // As for every CUDA call: inside a CUPTI callback it may hang.
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_LAZY);
  auto* const hooks = cupti == nullptr
                          ? nullptr
                          : reinterpret_cast<const fake::Hooks* (*)()>(dlsym(cupti, fake::kHooksFunction));
  if (hooks != nullptr && hooks()->in_callback()) {
    fake::violation("cudaRuntimeGetVersion called inside a callback of CUPTI");
  }
  *version = 13010;
  return 0;
}
