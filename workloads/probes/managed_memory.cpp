// SPDX-License-Identifier: Apache-2.0
//
// A small managed allocation, touched by host and GPU in turn, then prefetched both ways.
// At most 64 MiB: the probe tests that the allocation and the kernels are found, not paging.
#include <cstdint>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

void prefetch(const void* memory, std::size_t bytes, cudaMemLocationType type) {
  const cudaMemLocation location{type, 0};
  check(cudaMemPrefetchAsync(memory, bytes, location, 0, nullptr), "cudaMemPrefetchAsync");
}

/// Host and GPU each add 1 to every word, `rounds` times. Returns the number of wrong words.
std::uint64_t take_turns(std::uint32_t* words, std::size_t count, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    {
      const Range host("host turn");
      for (std::size_t i = 0; i < count; ++i) ++words[i];
    }
    const Range gpu("gpu turn");
    check(launch_increment(words, count, nullptr), "increment");
    check(cudaDeviceSynchronize(), "gpu turn");
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < count; ++i) wrong += words[i] == 2 * rounds ? 0 : 1;
  return wrong;
}

int run(std::size_t bytes, unsigned rounds) {
  require_gpu();
  int concurrent = 0;
  check(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0), "cudaDeviceGetAttribute");
  const Range outer("managed_memory");
  std::uint32_t* words = nullptr;
  const std::size_t count = bytes / sizeof *words;
  check(cudaMallocManaged(reinterpret_cast<void**>(&words), bytes, cudaMemAttachGlobal), "cudaMallocManaged");
  for (std::size_t i = 0; i < count; ++i) words[i] = 0;
  const std::uint64_t wrong = take_turns(words, count, rounds);
  unsigned prefetches = 0;
  if (concurrent != 0) {  // otherwise prefetching fails
    const Range range("prefetch");
    prefetch(words, bytes, cudaMemLocationTypeDevice);
    check(launch_increment(words, count, nullptr), "increment");
    prefetch(words, bytes, cudaMemLocationTypeHost);
    check(cudaDeviceSynchronize(), "prefetch");
    prefetches = 2;
  }
  check(cudaFree(words), "cudaFree");
  print(Object()
            .add("probe", "managed_memory")
            .add("managed_bytes", count * sizeof *words)
            .add("managed_allocs", 1)
            .add("kernels", rounds + (prefetches != 0 ? 1 : 0))
            .add("prefetches", prefetches)
            .add("wrong_words", wrong));
  return wrong == 0 ? 0 : kExitFailed;
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  unsigned mebibytes = 16, rounds = 4;
  rangefinder::Arguments arguments("Managed memory, touched by host and GPU in turn");
  arguments.number("--mib", mebibytes, "Size of the allocation, MiB", 1u, 64u);
  arguments.number("--rounds", rounds, "Turns of each side", 1u, 1000u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  return rangefinder::probe::run(std::size_t{mebibytes} << 20, rounds);
}
