// SPDX-License-Identifier: Apache-2.0
//
// Built with AddressSanitizer and with ThreadSanitizer: two threads with 10 launches in work/step
// each. The program has no errors of its own for a sanitizer to report.
#include <thread>

#include "tests/injection/programs/gpu.h"

// The fake driver never frees modules, because a tool may query them late.
extern "C" {
[[gnu::visibility("default")]] const char* __lsan_default_suppressions() {
  return "leak:libcuda.so\n";
}
[[gnu::visibility("default")]] const char* __lsan_default_options() {
  return "print_suppressions=0";
}
}

namespace {

constexpr unsigned kLaunches = 10;

void launch(CUcontext context, CUfunction function) {
  must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  const Range outer("work");
  for (unsigned i = 0; i < kLaunches; ++i) {
    const Range inner("step");
    Gpu::launch_one(function);
  }
}

}  // namespace

int main() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  must(cuInit(0), "cuInit");
  must(cuCtxCreate(&context, nullptr, 0, 0), "cuCtxCreate");
  CUfunction const function = load_kernel(&module, "kernel");
  for (int i = 0; i < 2; ++i) std::thread(launch, context, function).join();
  must(cuModuleUnload(module), "cuModuleUnload");
  must(cuCtxDestroy(context), "cuCtxDestroy");
  std::puts("done");
  return 0;
}
