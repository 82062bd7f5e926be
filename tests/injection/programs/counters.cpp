// SPDX-License-Identifier: Apache-2.0
//
// counters HOW: difficult cases for exact counters. The grid size is the number of the launch.
//
//   ranges       three launches in each of two ranges, and some outside them
//   threads      two threads alternate, each in its own range
//   streams      one range with launches in two streams
//   kernels      three kernels of different names, in the ranges a/b and c
//   later NAME   a kernel NAME that waits for a launch into another stream, then ordinary ones
//   value        a stream that waits for a value, then ordinary launches
//   destroy      a stream is destroyed with work in it
//   contexts     two contexts on one GPU; one is destroyed
//   handover     two contexts on one GPU launch until the second one has its counters
//   quiet        launches, a pause until the counters are released, launches
//   gpus N       one thread and one context on each of N GPUs
//   together     four threads make their first launch in one context at once
//   beside       memory in a context on GPU 0, work only in one on GPU 1
//   capture      launches, then a long stream capture
#include <dlfcn.h>

#include <condition_variable>
#include <functional>
#include <latch>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/injection/programs/gpu.h"

namespace {

constexpr long kDeadlineMs = 20'000;

CUstream make_stream() {
  CUstream stream = nullptr;
  must(cuStreamCreate(&stream, 0), "cuStreamCreate");
  return stream;
}

/// The context that holds its GPU's counters; 0 if none does or no profiler is loaded.
std::uint32_t counters_held_by() {
  void* const cupti = dlopen("libcupti.so.13", RTLD_NOLOAD | RTLD_LAZY);
  if (cupti == nullptr) return 0;
  return reinterpret_cast<std::uint32_t (*)()>(dlsym(cupti, "fake_cupti_counters_held_by"))();
}

bool profiled() {
  return std::getenv("CUDA_INJECTION64_PATH") != nullptr;
}

void launch_in_ranges(const Gpu& gpu) {
  unsigned grid = 1;
  must(gpu.launch(grid++), "cuLaunchKernel");
  const Range outer("outer");
  for (int i = 0; i < 2; ++i) {
    {
      const Range inner("inner");
      for (int k = 0; k < 3; ++k) must(gpu.launch(grid++), "cuLaunchKernel");
    }
    must(gpu.launch(grid++), "cuLaunchKernel");
  }
}

/// Two threads launch in turn: 0, 1, 0, and so on.
void take_turns(const Gpu& gpu) {
  std::mutex mutex;
  std::condition_variable changed;
  unsigned step = 0;
  const auto run = [&](unsigned parity, const char* name) {
    gpu.use_on_this_thread();
    const Range range(name);
    for (int i = 0; i < 2; ++i) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return step % 2 == parity; });
      for (int k = 0; k < 2; ++k) must(gpu.launch(step * 2 + static_cast<unsigned>(k) + 1), "cuLaunchKernel");
      ++step;
      changed.notify_all();
    }
  };
  std::thread first(run, 0u, "first");
  std::thread second(run, 1u, "second");
  first.join();
  second.join();
}

void use_two_streams(const Gpu& gpu) {
  CUstream const first = make_stream(), second = make_stream();
  const Range range("both");
  for (unsigned i = 0; i < 4; ++i) must(gpu.launch(i + 1, i % 2 == 0 ? first : second), "cuLaunchKernel");
}

void launch_by_name() {
  const CUfunction functions[] = {Gpu::kernel("_Z5scalePfi"), Gpu::kernel("_Z6reducePf"),
                                  Gpu::kernel("_Z18ncclDevKernel_fakePf")};
  {
    const Range a("a");
    const Range b("b");
    for (CUfunction const function : functions) Gpu::launch_one(function);
  }
  const Range c("c");
  for (CUfunction const function : functions) Gpu::launch_one(function);
}

/// Independent launches in two streams. The host waits for each, so that the work in flight is known.
void launch_ordinary(const Gpu& gpu, CUstream first, CUstream second, unsigned from) {
  const Range range("ordinary");
  for (unsigned i = 0; i < 6; ++i) {
    CUstream const stream = i % 2 == 0 ? second : first;
    must(gpu.launch(from + i, stream), "cuLaunchKernel");
    must(cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
}

void wait_for_later_kernel(const Gpu& gpu, const char* name) {
  CUstream const first = make_stream(), second = make_stream();
  CUfunction const waiter = Gpu::kernel(name);
  for (unsigned round = 0; round < 2; ++round) {
    {
      const Range range("waits");
      Gpu::launch_one(waiter, first);
    }
    launch_ordinary(gpu, first, second, 100 * round + 100);
  }
}

void wait_for_value(const Gpu& gpu) {
  CUstream const first = make_stream(), second = make_stream();
  must(gpu.launch(10, first), "cuLaunchKernel");
  must(cuStreamWaitValue32(first, 0, 1, 0), "cuStreamWaitValue32");
  must(gpu.launch(20, first), "cuLaunchKernel");
  launch_ordinary(gpu, first, second, 100);
}

void destroy_with_work(const Gpu& gpu) {
  CUstream const kept = make_stream();
  for (unsigned i = 0; i < 4; ++i) {
    CUstream const stream = make_stream();
    must(gpu.launch(2 * i + 1, stream), "cuLaunchKernel");
    must(cuStreamDestroy(stream), "cuStreamDestroy");
    must(gpu.launch(2 * i + 2, kept), "cuLaunchKernel");
  }
}

void use_two_contexts() {
  const Gpu first, second;
  for (const Gpu* const gpu : {&first, &second}) {
    gpu->use_on_this_thread();
    const Range range(gpu == &first ? "first" : "second");
    for (unsigned i = 0; i < 5; ++i) must(gpu->launch(i + 1), "cuLaunchKernel");
  }
  must(cuCtxDestroy(first.context()), "cuCtxDestroy");
  second.use_on_this_thread();
  const Range range("alone");
  for (unsigned i = 0; i < 5; ++i) must(second.launch(i + 1), "cuLaunchKernel");
}

void hand_over() {
  const Gpu first, second;
  for (long ms = 0; ms < kDeadlineMs; ms += 10) {
    for (const Gpu* const gpu : {&first, &second}) {
      gpu->use_on_this_thread();
      const Range range(gpu == &first ? "first" : "second");
      must(gpu->launch(1), "cuLaunchKernel");
    }
    if (!profiled() || counters_held_by() == 2) break;
    stay_alive_ms(10);
  }
}

void stay_quiet(const Gpu& gpu) {
  gpu.work(5);
  for (long ms = 0; ms < kDeadlineMs && counters_held_by() != 0; ms += 10) stay_alive_ms(10);
  std::printf("counters held by %u\n", counters_held_by());
  gpu.work(5);
}

void launch_together(const Gpu& gpu) {
  std::latch all_there(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&gpu, &all_there] {
      gpu.use_on_this_thread();
      all_there.arrive_and_wait();
      gpu.work(5);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

void use_gpus(int count) {
  std::vector<std::thread> threads;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    threads.emplace_back([ordinal] { Gpu(ordinal).work(20); });
  }
  for (std::thread& thread : threads) thread.join();
}

/// As in a run of several ranks, all of which have a context on the first GPU.
void work_beside() {
  const Gpu first(0);
  CUdeviceptr memory = 0;
  must(cuMemAlloc(&memory, 1 << 20), "cuMemAlloc");
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  Gpu(1).work(20);
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  first.use_on_this_thread();
  must(cuMemFree(memory), "cuMemFree");
}

void capture_for_long(const Gpu& gpu) {
  CUstream const stream = make_stream();
  CUgraph graph = nullptr;
  gpu.work(5);
  must(gpu.launch(6, stream), "cuLaunchKernel");
  must(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture");
  must(gpu.launch(7, stream), "cuLaunchKernel");
  stay_alive_ms(2'500);  // longer than a batch may wait
  must(cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  gpu.work(5);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string_view how = argv[1];
  if (how == "contexts") use_two_contexts();
  if (how == "handover") hand_over();
  if (how == "gpus") {
    must(cuInit(0), "cuInit");
    use_gpus(std::atoi(argv[2]));
  }
  if (how == "beside") work_beside();
  if (how == "contexts" || how == "handover" || how == "gpus" || how == "beside") return 0;
  const Gpu gpu;
  if (how == "ranges") launch_in_ranges(gpu);
  if (how == "together") launch_together(gpu);
  if (how == "threads") take_turns(gpu);
  if (how == "streams") use_two_streams(gpu);
  if (how == "kernels") launch_by_name();
  if (how == "later") wait_for_later_kernel(gpu, argv[2]);
  if (how == "value") wait_for_value(gpu);
  if (how == "destroy") destroy_with_work(gpu);
  if (how == "quiet") stay_quiet(gpu);
  if (how == "capture") capture_for_long(gpu);
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  return 0;
}
