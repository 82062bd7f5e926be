// SPDX-License-Identifier: Apache-2.0
//
// launches THREADS COUNT: every thread launches COUNT kernels in worker/layer ranges. The main
// thread copies and sets memory, launches a graph, and makes one launch that fails.
#include <thread>
#include <vector>

#include "tests/injection/programs/gpu.h"

namespace {

void launch_in_ranges(const Gpu& gpu, unsigned count) {
  gpu.use_on_this_thread();
  const Range worker("worker");
  for (unsigned i = 0; i < count; ++i) {
    const Range layer(i % 2 == 0 ? "even" : "odd");
    must(gpu.launch(i + 1), "cuLaunchKernel");
  }
}

void copy_and_fill() {
  const Range range("copies");
  std::vector<char> host(4096, 'x');
  CUdeviceptr memory = 0;
  must(cuMemAlloc(&memory, host.size()), "cuMemAlloc");
  must(cuMemcpyHtoD(memory, host.data(), host.size()), "cuMemcpyHtoD");
  must(cuMemcpyHtoDAsync(memory, host.data(), 0, nullptr), "cuMemcpyHtoDAsync");  // no bytes: no record
  must(cuMemsetD8Async(memory, 0, 1024, nullptr), "cuMemsetD8Async");
  must(cuMemcpyDtoH(host.data(), memory, 512), "cuMemcpyDtoH");
  must(cuMemFree(memory), "cuMemFree");
}

void launch_graph(const Gpu& gpu) {
  CUstream stream = nullptr;
  must(cuStreamCreate(&stream, 0), "cuStreamCreate");
  CUgraphExec const exec = captured_graph(gpu, stream, 1000);
  const Range range("graph");
  for (int i = 0; i < 2; ++i) must(cuGraphLaunch(exec, stream), "cuGraphLaunch");
  must(cuStreamSynchronize(stream), "cuStreamSynchronize");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int threads = std::atoi(argv[1]);
  const auto count = static_cast<unsigned>(std::atoi(argv[2]));
  const Gpu gpu;
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(launch_in_ranges, std::cref(gpu), count);
  for (std::thread& worker : workers) worker.join();
  copy_and_fill();
  launch_graph(gpu);
  std::printf("refused launch: %d\n", static_cast<int>(gpu.launch(0)));
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  std::printf("%d threads launched %u kernels each\n", threads, count);
  return 0;
}
