// SPDX-License-Identifier: Apache-2.0
//
// A library that uses CUDA while it is loaded, and again while it is unloaded: the loader's lock is this
// thread's then, and no other thread can load anything or look a function up.
#include "tests/injection/programs/gpu.h"

namespace {

struct AtLoad {
  AtLoad() { gpu.work(10); }
  ~AtLoad() { gpu.work(10); }

  Gpu gpu;
};

const AtLoad kAtLoad;

}  // namespace
