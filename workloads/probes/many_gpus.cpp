// SPDX-License-Identifier: Apache-2.0
//
// Known copies on several GPUs at the same time, more on each GPU than on the previous one, so that bytes
// attributed to the wrong GPU show.
//
//   gpu K / copy      (K + 1) x repeat copy kernels, each reads and writes --mib MiB of DRAM
//   gpu K / upload    (K + 1) copies of 8 MiB from pinned memory
//
// --by-rank: uses only the GPU numbered LOCAL_RANK, like one process of several.
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

constexpr std::uint64_t kMiB = 1ull << 20;
constexpr std::uint64_t kUploadBytes = 8 * kMiB;

struct Options {
  int gpus = 0;  // 0: all
  unsigned repeat = 4;
  std::uint64_t mib = 256;  // several times the L2, so that nothing of the previous copy is left in it
  bool by_rank = false;
};

/// Resources of one GPU for its copies.
struct Gpu {
  int number = 0;
  cudaStream_t stream = nullptr;
  void *source = nullptr, *target = nullptr, *upload = nullptr, *pinned = nullptr;
};

Gpu prepare(int number, std::uint64_t bytes) {
  Gpu gpu;
  gpu.number = number;
  check(cudaSetDevice(number), "cudaSetDevice");
  check(cudaStreamCreateWithFlags(&gpu.stream, cudaStreamNonBlocking), "cudaStreamCreate");
  check(cudaMalloc(&gpu.source, bytes), "cudaMalloc");
  check(cudaMalloc(&gpu.target, bytes), "cudaMalloc");
  check(cudaMalloc(&gpu.upload, kUploadBytes), "cudaMalloc");
  check(cudaMallocHost(&gpu.pinned, kUploadBytes), "cudaMallocHost");
  check(launch_random(gpu.source, bytes, static_cast<std::uint32_t>(number) + 1, gpu.stream), "fill");
  check(cudaStreamSynchronize(gpu.stream), "prepare");
  return gpu;
}

unsigned rounds(const Gpu& gpu) {
  return static_cast<unsigned>(gpu.number) + 1;
}

/// Launches everything; does not wait.
void copy_on(const Gpu& gpu, std::uint64_t bytes, unsigned repeat) {
  check(cudaSetDevice(gpu.number), "cudaSetDevice");
  const Range outer("gpu " + std::to_string(gpu.number));
  {
    const Range inner("copy");
    for (unsigned i = 0; i < repeat * rounds(gpu); ++i) {
      check(launch_copy(gpu.target, gpu.source, bytes, gpu.stream), "copy");
    }
  }
  const Range inner("upload");
  for (unsigned i = 0; i < rounds(gpu); ++i) {
    check(cudaMemcpyAsync(gpu.upload, gpu.pinned, kUploadBytes, cudaMemcpyHostToDevice, gpu.stream),
          "upload");
  }
}

std::vector<int> chosen(const Options& options, int there) {
  if (options.by_rank) {
    const char* const rank = std::getenv("LOCAL_RANK");
    const int number = rank == nullptr ? 0 : std::atoi(rank);
    return {number < there ? number : 0};
  }
  std::vector<int> out;
  for (int i = 0; i < (options.gpus == 0 ? there : options.gpus); ++i) out.push_back(i);
  return out;
}

void run(const Options& options) {
  const int there = require_gpu();
  if (options.gpus > there) {
    std::fprintf(stderr, "many_gpus: --gpus %d: the machine has %d\n", options.gpus, there);
    std::exit(kExitNoGpu);
  }
  const std::uint64_t bytes = options.mib * kMiB;
  std::vector<Gpu> gpus;
  for (const int number : chosen(options, there)) gpus.push_back(prepare(number, bytes));
  for (const Gpu& gpu : gpus) copy_on(gpu, bytes, options.repeat);
  Array found;
  for (const Gpu& gpu : gpus) {
    check(cudaSetDevice(gpu.number), "cudaSetDevice");
    check(cudaStreamSynchronize(gpu.stream), "copies");
    const std::uint64_t kernels = std::uint64_t{options.repeat} * rounds(gpu);
    found.add(Object()
                  .add("gpu", gpu.number)
                  .add("range", "gpu " + std::to_string(gpu.number))
                  .add("kernels", kernels)
                  .add("read_bytes", kernels * bytes)
                  .add("write_bytes", kernels * bytes)
                  .add("upload_bytes", rounds(gpu) * kUploadBytes));
  }
  print(Object().add("probe", "many_gpus").add("gpus", found));
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  rangefinder::probe::Options options;
  rangefinder::Arguments arguments("Known copies on each of several GPUs");
  arguments.number("--gpus", options.gpus, "Number of GPUs; 0: all", 0, 64);
  arguments.number("--repeat", options.repeat, "Copy kernels on the first GPU", 1u, 10'000u);
  arguments.number("--mib", options.mib, "Size of a copy", 1u, 16'384u);
  arguments.flag("--by-rank", options.by_rank, "Only the GPU numbered LOCAL_RANK");
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  rangefinder::probe::run(options);
}
