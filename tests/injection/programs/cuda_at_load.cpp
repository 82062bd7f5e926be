// SPDX-License-Identifier: Apache-2.0
//
// A library that uses CUDA during dlopen and dlclose. This thread then holds the loader's lock, so no other
// thread can load a library or look up a symbol.
#include "tests/injection/programs/gpu.h"

namespace {

struct AtLoad {
  AtLoad() { gpu.work(10); }
  ~AtLoad() { gpu.work(10); }

  Gpu gpu;
};

const AtLoad kAtLoad;

}  // namespace
