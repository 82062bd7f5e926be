// SPDX-License-Identifier: Apache-2.0
//
// Executes commands from its standard input, one per line, and answers each line when it is done:
//
//   launch N     N launches in the range work/step       push NAME, pop    a range
//   module NAME  a module's range with its source lines, as of the PyTorch hooks
//   graph        makes a graph of 3 kernels in the range capture            replay N   launches it N times
//   profiler start|stop    cuProfilerStart, cuProfilerStop
//   storm on|off|waits     another thread launches continuously; waits: and synchronises most of the time
//   storm fast             with four ranges a launch           storm modules   in each of 300 modules in turn
//   hold                   another thread enters a launch, which does not return until `release`
//   owner NAME, disown     another tool takes CUPTI, and releases it
//   load NAME              a kernel that is launched twice             unload  its module goes
//   sync, status (threads, open files, resident KiB), fork, quit
#include <cudaProfiler.h>
#include <dirent.h>
#include <sched.h>
#include <sys/wait.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/injection/programs/gpu.h"

namespace {

long entries_of(const char* folder) {
  long count = 0;
  DIR* const dir = opendir(folder);
  while (dir != nullptr && readdir(dir) != nullptr) ++count;
  closedir(dir);
  return count - 2;
}

void print_status() {
  long pages = 0, resident = 0;
  if (FILE* const file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    std::fclose(file);
  }
  std::cout << entries_of("/proc/self/task") << " " << entries_of("/proc/self/fd") - 1 << " "
            << resident * (sysconf(_SC_PAGESIZE) / 1024) << std::endl;
}

class Worker {
 public:
  explicit Worker(const Gpu& gpu) : gpu_(gpu) {}
  ~Worker() { storm("off"); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void storm(const std::string& kind) {
    stormy_.store(kind != "off");
    if (thread_.joinable()) thread_.join();
    if (kind == "off") return;
    const bool waits = kind == "waits";
    const int ranges = kind == "fast" ? 3 : 0;
    const long every_us =
        kind == "fast" ? 60 : 20;  // 83,000 events a second: a busy machine still reads them in time
    thread_ =
        std::thread([this, waits, ranges, every_us, modules = module_names(kind == "modules" ? 300 : 1)] {
          gpu_.use_on_this_thread();
          for (std::size_t number = 0; stormy_.load(); ++number) {
            const Range range(modules[number % modules.size()].c_str());
            for (int i = 0; i < ranges; ++i) const Range layer("layer");
            must(gpu_.launch(3), "cuLaunchKernel");
            if (waits) must(cuCtxSynchronize(), "cuCtxSynchronize");
            take_us(every_us);
          }
        });
  }

  static std::vector<std::string> module_names(int count) {
    std::vector<std::string> names{"storm"};
    while (static_cast<int>(names.size()) < count)
      names.push_back("a module of the storm, number " + std::to_string(names.size()));
    return names;
  }

  /// Returns once the launch has started.
  void hold() {
    in_launch = false;
    released = false;
    std::signal(SIGUSR1, [](int) {
      in_launch = true;
      while (!released.load()) sched_yield();
    });
    holder_ = std::thread([this] {
      gpu_.use_on_this_thread();
      Gpu::launch_one(Gpu::kernel("_Z12raise_signalPf"));
    });
    while (!in_launch.load()) sched_yield();
  }
  void release() {
    released = true;
    holder_.join();
  }

  void load(const char* kernel) {
    CUfunction const function = load_kernel(&module_, kernel);
    for (int i = 0; i < 2; ++i) Gpu::launch_one(function);
  }
  void unload() { must(cuModuleUnload(module_), "cuModuleUnload"); }

  void make_graph() {
    must(cuStreamCreate(&stream_, 0), "cuStreamCreate");
    exec_ = captured_graph(gpu_, stream_, 1000);
  }

  void replay(int times) {
    const Range range("replay");
    for (int i = 0; i < times; ++i) must(cuGraphLaunch(exec_, stream_), "cuGraphLaunch");
  }

 private:
  static inline std::atomic<bool> in_launch{false}, released{false};

  const Gpu& gpu_;
  std::atomic<bool> stormy_{false};
  std::thread thread_, holder_;
  CUmodule module_ = nullptr;
  CUstream stream_ = nullptr;
  CUgraphExec exec_ = nullptr;
};

void push_module(const std::string& name) {
  nvtxRangePushA(name.c_str());
  const std::string text = "/app/model.py:214\n/app/train.py:30\n" + name;
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = text.c_str();
  nvtxDomainMarkEx(nvtxDomainCreateA("rangefinder.source"), &event);
}

int fork_a_child() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  return child;
}

}  // namespace

int main() {
  const Gpu gpu;
  Worker worker(gpu);
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb, what;
    words >> verb >> what;
    if (verb == "quit") break;
    if (verb == "launch") gpu.work(static_cast<unsigned>(std::stoi(what)));
    if (verb == "push") nvtxRangePushA(what.c_str());
    if (verb == "pop") nvtxRangePop();
    if (verb == "module") push_module(what);
    if (verb == "graph") worker.make_graph();
    if (verb == "replay") worker.replay(std::stoi(what));
    if (verb == "load") worker.load(what.c_str());
    if (verb == "unload") worker.unload();
    if (verb == "storm") worker.storm(what);
    if (verb == "hold") worker.hold();
    if (verb == "release") worker.release();
    // Another tool has CUPTI (fake_cupti.h), or no longer.
    if (verb == "owner") setenv("FAKE_CUPTI_OWNER", what.c_str(), 1);
    if (verb == "disown") unsetenv("FAKE_CUPTI_OWNER");
    if (verb == "sync") must(cuCtxSynchronize(), "cuCtxSynchronize");
    if (verb == "profiler") must(what == "start" ? cuProfilerStart() : cuProfilerStop(), "cuProfiler");
    if (verb == "status") {
      print_status();
    } else if (verb == "fork") {
      std::cout << fork_a_child() << std::endl;
    } else {
      std::cout << "done" << std::endl;
    }
  }
  return 0;
}
