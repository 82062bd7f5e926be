// SPDX-License-Identifier: Apache-2.0
//
// N launches of an empty kernel from M threads, each with its own stream and its range `storm / thread K`.
// Measures what a launch costs, what is lost and what grows. With --range-launches N, every N launches have
// their own range `group` below that. With --gpus N, thread K launches on GPU K modulo N.
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "workloads/arguments.h"
#include "workloads/probes/cuda_check.h"
#include "workloads/probes/expectation.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

constexpr std::uint64_t kWarmUpLaunches = 256;  // per thread: stream, NVTX range, CUDA's own pools

struct Options {
  unsigned threads = 8;
  std::uint64_t launches = 100'000;
  unsigned blocks = 132;
  std::uint64_t range_launches = 0;  // launches per range `group`; 0: no such ranges
  unsigned gpus = 1;                 // threads take turns over them
};

struct Storm {
  std::int64_t wall_ns = 0;
  std::uint64_t rss_before_bytes = 0;
  std::uint64_t rss_after_bytes = 0;
};

/// VmRSS of this process.
std::uint64_t rss_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "VmRSS:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

void launch_some(const Options& options, std::uint64_t launches, cudaStream_t stream) {
  for (std::uint64_t i = 0; i < launches; ++i) check(launch_empty(options.blocks, stream), "launch");
}

/// Number of ranges `group` that a thread needs for `launches`; the last may be shorter.
std::uint64_t groups_of(const Options& options, std::uint64_t launches) {
  return options.range_launches == 0 ? 0 : (launches + options.range_launches - 1) / options.range_launches;
}

void launch_in_groups(const Options& options, std::uint64_t launches, cudaStream_t stream) {
  for (std::uint64_t done = 0; done < launches; done += options.range_launches) {
    const Range group("group");
    launch_some(options, std::min(options.range_launches, launches - done), stream);
  }
}

std::uint64_t launches_of(const Options& options, unsigned thread) {
  return options.launches / options.threads + (thread < options.launches % options.threads ? 1 : 0);
}

void launch_from_thread(const Options& options, unsigned thread, std::barrier<>& phase) {
  cudaStream_t stream = nullptr;
  check(cudaSetDevice(static_cast<int>(thread % options.gpus)), "cudaSetDevice");
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  const Range outer("storm");
  const Range inner("thread " + std::to_string(thread));
  const auto storm = [&](std::uint64_t launches) {
    if (options.range_launches == 0)
      launch_some(options, launches, stream);
    else
      launch_in_groups(options, launches, stream);
    check(cudaStreamSynchronize(stream), "storm");
  };
  storm(kWarmUpLaunches);
  phase.arrive_and_wait();  // all have warmed up
  phase.arrive_and_wait();  // main has read the memory and the clock
  storm(launches_of(options, thread));
  phase.arrive_and_wait();  // all are done
}

Storm run_storm(const Options& options) {
  Storm storm;
  std::barrier<> phase(options.threads + 1);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < options.threads; ++t) {
    threads.emplace_back([&, t] { launch_from_thread(options, t, phase); });
  }
  phase.arrive_and_wait();
  storm.rss_before_bytes = rss_bytes();
  const auto start = std::chrono::steady_clock::now();
  phase.arrive_and_wait();
  phase.arrive_and_wait();
  const auto end = std::chrono::steady_clock::now();
  storm.rss_after_bytes = rss_bytes();
  storm.wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
  for (std::thread& thread : threads) thread.join();
  return storm;
}

}  // namespace
}  // namespace rangefinder::probe

int main(int argc, char** argv) {
  using namespace rangefinder::probe;
  Options options;
  rangefinder::Arguments arguments("Many launches of an empty kernel from many threads");
  arguments.number("--threads", options.threads, "Threads", 1u, 1024u);
  arguments.number("--launches", options.launches, "Launches in total, after a warm-up of 256 per thread");
  arguments.number("--blocks", options.blocks, "Blocks of each kernel", 1u, 65'535u);
  arguments.number("--range-launches", options.range_launches,
                   "Launches per NVTX range `group`; 0: no such ranges");
  arguments.number("--gpus", options.gpus, "GPUs to spread the threads over", 1u, 64u);
  if (const std::optional<int> exit_code = arguments.parse(argc, argv)) return *exit_code;
  if (const int there = require_gpu(); static_cast<int>(options.gpus) > there) {
    std::fprintf(stderr, "launch_storm: --gpus %u: the machine has %d\n", options.gpus, there);
    return kExitNoGpu;
  }
  const Storm storm = run_storm(options);
  const std::uint64_t warm_up = kWarmUpLaunches * options.threads;
  std::uint64_t groups = 0, warm_up_groups = 0;
  for (unsigned t = 0; t < options.threads; ++t) {
    groups += groups_of(options, launches_of(options, t));
    warm_up_groups += groups_of(options, kWarmUpLaunches);
  }
  print(Object()
            .add("probe", "launch_storm")
            .add("kernels", options.launches + warm_up)
            .add("warm_up_kernels", warm_up)
            .add("threads", options.threads)
            .add("groups", groups + warm_up_groups)
            .add("ns_per_group",
                 groups == 0 ? 0.0 : static_cast<double>(storm.wall_ns) / static_cast<double>(groups))
            .add("wall_ns", storm.wall_ns)
            .add("ns_per_launch", options.launches == 0 ? 0.0
                                                        : static_cast<double>(storm.wall_ns) /
                                                              static_cast<double>(options.launches))
            .add("rss_before_bytes", storm.rss_before_bytes)
            .add("rss_after_bytes", storm.rss_after_bytes));
}
