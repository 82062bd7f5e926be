// SPDX-License-Identifier: Apache-2.0
//
// Executes commands from standard input, one per line, and answers each line when it is done.
// tests/gpu/checks opens and closes windows of a running program between two lines.
//
//   launch N         N kernels of 5 us in the range work/step, then waits; answers the us per launch
//   spin MS          one kernel of MS milliseconds; does not wait
//   graph N          captures N kernels in the range capture, instantiates
//   replay N         launches the graph N times in the range replay, then waits
//   storm on|off     another thread keeps launching, at most 200 launches ahead of the GPU
//   status           threads, open files, resident KiB, free MiB of the GPU
//   sync, quit
#include <dirent.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>

#include "workloads/probes/cuda_check.h"
#include "workloads/probes/kernels.h"
#include "workloads/probes/range.h"

namespace rangefinder::probe {
namespace {

constexpr std::uint64_t kKernelNs = 5'000;
constexpr int kAhead = 200;

long entries_of(const char* folder) {
  long count = 0;
  DIR* const dir = opendir(folder);
  if (dir == nullptr) return 0;
  while (readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count - 2;
}

long resident_kib() {
  long pages = 0, resident = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

class Worker {
 public:
  Worker() {
    check(cudaStreamCreate(&stream_), "stream");
    check(launch_spin(kKernelNs, stream_), "launch");
    check(cudaStreamSynchronize(stream_), "synchronise");
  }
  ~Worker() { storm(false); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  double launch(unsigned count) {
    const auto begin = std::chrono::steady_clock::now();
    {
      const Range outer("work");
      for (unsigned i = 0; i < count; ++i) {
        const Range inner("step");
        check(launch_spin(kKernelNs, stream_), "launch");
      }
    }
    check(cudaStreamSynchronize(stream_), "synchronise");
    const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - begin;
    return passed.count() / count;
  }

  void spin(unsigned ms) { check(launch_spin(std::uint64_t{ms} * 1'000'000, stream_), "launch"); }

  void capture(unsigned kernels) {
    cudaGraph_t graph = nullptr;
    const Range range("capture");
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "begin of capture");
    for (unsigned i = 0; i < kernels; ++i) check(launch_spin(kKernelNs, stream_), "launch");
    check(cudaStreamEndCapture(stream_, &graph), "end of capture");
    check(cudaGraphInstantiate(&exec_, graph, 0), "instantiation");
  }

  void replay(unsigned times) {
    const Range range("replay");
    for (unsigned i = 0; i < times; ++i) check(cudaGraphLaunch(exec_, stream_), "graph launch");
    check(cudaStreamSynchronize(stream_), "synchronise");
  }

  void storm(bool on) {
    stormy_.store(on);
    if (thread_.joinable()) thread_.join();
    if (!on) return;
    thread_ = std::thread([this] {
      cudaStream_t stream = nullptr;
      check(cudaStreamCreate(&stream), "stream");
      while (stormy_.load()) {
        const Range range("storm");
        for (int i = 0; i < kAhead; ++i) check(launch_spin(kKernelNs, stream), "launch");
        check(cudaStreamSynchronize(stream), "synchronise");
      }
      check(cudaStreamDestroy(stream), "stream");
    });
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  std::atomic<bool> stormy_{false};
  std::thread thread_;
};

void print_status() {
  std::size_t free_bytes = 0, total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "memory");
  std::cout << entries_of("/proc/self/task") << " " << entries_of("/proc/self/fd") - 1 << " "
            << resident_kib() << " " << (free_bytes >> 20) << std::endl;
}

void serve(Worker& worker) {
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb, what;
    words >> verb >> what;
    if (verb == "quit") return;
    const unsigned number =
        what.empty() || what == "on" || what == "off" ? 0 : static_cast<unsigned>(std::stoul(what));
    if (verb == "status") {
      print_status();
      continue;
    }
    if (verb == "launch") {
      std::cout << worker.launch(number) << std::endl;
      continue;
    }
    if (verb == "spin") worker.spin(number);
    if (verb == "graph") worker.capture(number);
    if (verb == "replay") worker.replay(number);
    if (verb == "storm") worker.storm(what == "on");
    if (verb == "sync") check(cudaDeviceSynchronize(), "synchronise");
    std::cout << "done" << std::endl;
  }
}

}  // namespace
}  // namespace rangefinder::probe

int main() {
  (void)rangefinder::probe::require_gpu();
  rangefinder::probe::Worker worker;
  rangefinder::probe::serve(worker);
  return 0;
}
