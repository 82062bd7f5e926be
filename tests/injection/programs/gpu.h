// SPDX-License-Identifier: Apache-2.0
//
// Shared by the test programs: driver set-up, one kernel, NVTX ranges.
#pragma once

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

/// Exits with status 3 if the driver returns an error.
inline void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::printf("%s failed: %d\n", what, static_cast<int>(result));
  std::exit(3);
}

class Range {
 public:
  explicit Range(const char* name) { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

/// The empty kernel `name`, the only one of its module. The fake driver does not read the module; a real
/// driver compiles it.
inline CUfunction load_kernel(CUmodule* module, const std::string& name) {
  const std::string ptx =
      ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry " + name + "()\n{\n  ret;\n}\n";
  CUfunction function = nullptr;
  must(cuModuleLoadData(module, ptx.c_str()), "cuModuleLoadData");
  must(cuModuleGetFunction(&function, *module, name.c_str()), "cuModuleGetFunction");
  return function;
}

/// A context on GPU `ordinal`, and a kernel `scale(float*, int)`.
class Gpu {
 public:
  explicit Gpu(int ordinal = 0) {
    CUdevice device = 0;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, ordinal), "cuDeviceGet");
    must(cuCtxCreate(&context_, nullptr, 0, device), "cuCtxCreate");
    scale_ = kernel("_Z5scalePfi");
  }

  [[nodiscard]] static CUfunction kernel(const char* name) {
    CUmodule module = nullptr;
    return load_kernel(&module, name);
  }

  [[nodiscard]] CUcontext context() const { return context_; }
  void use_on_this_thread() const { must(cuCtxSetCurrent(context_), "cuCtxSetCurrent"); }

  /// `blocks` identifies a launch in the trace; 0 makes the launch fail.
  CUresult launch(unsigned blocks, CUstream stream = nullptr) const {
    return cuLaunchKernel(scale_, blocks, 1, 1, 128, 1, 1, 0, stream, nullptr, nullptr);
  }

  static void launch_one(CUfunction function, CUstream stream = nullptr) {
    must(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, nullptr, nullptr), "cuLaunchKernel");
  }

  /// `count` launches in the range work/step.
  void work(unsigned count) const {
    const Range outer("work");
    for (unsigned i = 0; i < count; ++i) {
      const Range inner("step");
      must(launch(i + 1), "cuLaunchKernel");
    }
  }

 private:
  CUcontext context_ = nullptr;
  CUfunction scale_ = nullptr;
};

/// A graph of the work that `launch` submits to `stream`, captured in the range `capture`.
template <typename Launch>
CUgraphExec captured_graph(CUstream stream, const Launch& launch) {
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  {
    const Range range("capture");
    must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
    launch();
    must(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  }
  must(cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
  return exec;
}

/// Three kernels with grids of `blocks`, `blocks` + 1 and `blocks` + 2.
inline CUgraphExec captured_graph(const Gpu& gpu, CUstream stream, unsigned blocks) {
  return captured_graph(stream, [&] {
    for (unsigned i = 0; i < 3; ++i) must(gpu.launch(blocks + i, stream), "cuLaunchKernel");
  });
}

/// Busy-waits on this CPU.
inline void take_us(long us) {
  timespec began{}, now{};
  clock_gettime(CLOCK_MONOTONIC, &began);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - began.tv_sec) * 1'000'000'000 + now.tv_nsec - began.tv_nsec < us * 1000);
}

/// Keeps the program running, as host work would.
inline void stay_alive_ms(long ms) {
  const timespec pause{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&pause, nullptr);
}
