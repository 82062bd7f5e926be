// SPDX-License-Identifier: Apache-2.0
//
// Unusual things that programs do, each with 10 launches in work/step:
//
//   contexts N       N contexts, one after the other           primary   the primary context, retained twice
//   reset            the primary context, reset while in use, and again
//   stack            on a thread with a stack of 128 KiB        threads N on N threads at a time, then N more
//   cancel           on a thread that is cancelled before      cancel-all  the same, and it starts CUDA, too
//   storm [FILE]     two threads launch as fast as a real driver lets them, forever; FILE holds the end
//                    times of the first and last launch, ns since 1970, also after a SIGKILL
//   modules N        N modules, each unloaded after a few launches of its kernel jit_0000, jit_0001, …
//   graphs N         the same, with the launches captured into a graph that is launched twice
//   locale           in the locale that the environment names
//   dlclose FILE     loads FILE before cuInit, unloads it after
//   load FILE        loads and unloads FILE, which uses CUDA meanwhile (cuda_at_load.cpp)
//   sandbox          no socket can be made (seccomp)            pipe      standard error is a pipe without
//                                                               a reader
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <clocale>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/injection/programs/gpu.h"

namespace {

constexpr unsigned kLaunches = 10;

void use_contexts(int count) {
  for (int i = 0; i < count; ++i) {
    const Gpu gpu;
    gpu.work(kLaunches);
    must(cuCtxDestroy(gpu.context()), "cuCtxDestroy");
  }
}

void launch_in_primary() {
  CUfunction const scale = Gpu::kernel("_Z5scalePfi");
  for (unsigned i = 0; i < kLaunches; ++i) Gpu::launch_one(scale);
}

void use_primary(bool reset) {
  CUcontext first = nullptr, second = nullptr;
  must(cuInit(0), "cuInit");
  for (int round = 0; round < 2; ++round) {
    must(cuDevicePrimaryCtxRetain(&first, 0), "cuDevicePrimaryCtxRetain");
    must(cuDevicePrimaryCtxRetain(&second, 0), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(first), "cuCtxSetCurrent");
    launch_in_primary();
    if (reset) {
      must(cuDevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset");
      continue;
    }
    must(cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
    launch_in_primary();
    must(cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
  }
  std::printf("the same context: %s\n", first == second ? "yes" : "no");
}

void work_on_a_small_stack() {
  static const Gpu gpu;
  pthread_attr_t attributes;
  pthread_t thread{};
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{128} << 10);
  const auto run = [](void*) -> void* {
    gpu.use_on_this_thread();
    gpu.work(kLaunches);
    std::vector<char> text(100'000, 'x');  // longer than any name limit
    text.back() = '\0';
    nvtxRangePushA(text.data());
    nvtxRangePop();
    return nullptr;
  };
  if (pthread_create(&thread, &attributes, run, nullptr) != 0) std::exit(3);
  pthread_join(thread, nullptr);
}

void work_on_threads(int count) {
  const Gpu gpu;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&gpu] {
        gpu.use_on_this_thread();
        gpu.work(kLaunches);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// The thread runs until it reaches a cancellation point (pthreads(7)). Here only the last call is one.
void work_on_a_cancelled_thread(bool starts_cuda) {
  const Gpu* const ready = starts_cuda ? nullptr : new Gpu;
  const auto run = [](void* given) -> void* {
    pthread_cancel(pthread_self());
    const auto* const gpu = given == nullptr ? new Gpu : static_cast<const Gpu*>(given);
    gpu->use_on_this_thread();
    gpu->work(kLaunches);
    pthread_testcancel();
    return nullptr;
  };
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, run, const_cast<Gpu*>(ready)) != 0) std::exit(3);
  void* end = nullptr;
  pthread_join(thread, &end);
  std::printf("cancelled: %s\n", end == PTHREAD_CANCELED ? "yes" : "no");
}

/// End times of launches, ns since 1970.
struct LaunchTimes {
  std::atomic<std::int64_t> first_ns{0}, last_ns{0};

  void tell() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    const std::int64_t now_ns = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    std::int64_t none = 0;
    first_ns.compare_exchange_strong(none, now_ns);
    last_ns.store(now_ns, std::memory_order_relaxed);
  }
};

/// In a mapped file, so that the values remain after the process.
LaunchTimes* shared_times(const char* path) {
  static LaunchTimes unused;
  if (path == nullptr) return &unused;
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof(LaunchTimes)) != 0) std::exit(3);
  void* const memory = mmap(nullptr, sizeof(LaunchTimes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) std::exit(3);
  return static_cast<LaunchTimes*>(memory);
}

void storm(const char* path) {
  LaunchTimes* const times = shared_times(path);
  const Gpu gpu;
  const auto launch = [&gpu, times] {
    gpu.use_on_this_thread();
    for (unsigned i = 0;; ++i) {
      const Range layer(i % 2 == 0 ? "even" : "odd");
      must(gpu.launch(1 + i % 100), "cuLaunchKernel");
      times->tell();
      take_us(3);
    }
  };
  std::thread other(launch);
  launch();
}

/// A module with one kernel, for example jit_0007.
class Module {
 public:
  explicit Module(int number) {
    char name[32];
    std::snprintf(name, sizeof name, "jit_%04d", number);
    kernel_ = load_kernel(&module_, name);
  }
  ~Module() { must(cuModuleUnload(module_), "cuModuleUnload"); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  [[nodiscard]] CUfunction kernel() const { return kernel_; }

 private:
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
};

void use_modules(int count) {
  const Gpu gpu;
  for (int number = 0; number < count; ++number) {
    const Module module(number);
    for (int i = 0; i <= number % 3; ++i) Gpu::launch_one(module.kernel());
    must(cuCtxSynchronize(), "cuCtxSynchronize");
  }
}

void use_modules_in_graphs(int count) {
  const Gpu gpu;
  CUstream stream = nullptr;
  must(cuStreamCreate(&stream, 0), "cuStreamCreate");
  for (int number = 0; number < count; ++number) {
    const Module module(number);
    CUgraphExec const exec = captured_graph(stream, [&] {
      for (int i = 0; i <= number % 3; ++i) Gpu::launch_one(module.kernel(), stream);
    });
    for (int i = 0; i < 2; ++i) must(cuGraphLaunch(exec, stream), "cuGraphLaunch");
    must(cuCtxSynchronize(), "cuCtxSynchronize");
  }
}

void load_and_unload(const char* file) {
  void* const library = dlopen(file, RTLD_NOW);
  if (library == nullptr) std::exit(3);
  const Gpu gpu;
  gpu.work(kLaunches / 2);
  for (int i = 0; i < 3; ++i) (void)dlclose(library);
  gpu.work(kLaunches / 2);
}

/// `file` uses CUDA in its constructors and destructors (cuda_at_load.cpp).
void load_what_uses_cuda(const char* file) {
  void* const library = dlopen(file, RTLD_NOW);
  if (library == nullptr || dlclose(library) != 0) std::exit(3);
}

/// Makes socket() fail from now on.
void forbid_sockets() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    std::exit(77);
  if (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) std::exit(3);
}

void break_standard_error() {
  int ends[2] = {};
  if (pipe(ends) != 0) std::exit(3);
  close(ends[0]);
  dup2(ends[1], STDERR_FILENO);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string_view how = argv[1];
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  if (how == "sandbox") forbid_sockets();
  if (how == "locale" && std::setlocale(LC_ALL, "") == nullptr) return 3;
  if (how == "pipe") break_standard_error();
  if (how == "contexts") use_contexts(count);
  if (how == "primary" || how == "reset") use_primary(how == "reset");
  if (how == "stack") work_on_a_small_stack();
  if (how == "threads") work_on_threads(count);
  if (how == "cancel" || how == "cancel-all") work_on_a_cancelled_thread(how == "cancel-all");
  if (how == "storm") storm(argc > 2 ? argv[2] : nullptr);
  if (how == "modules") use_modules(count);
  if (how == "graphs") use_modules_in_graphs(count);
  if (how == "dlclose") load_and_unload(argv[2]);
  if (how == "load") load_what_uses_cuda(argv[2]);
  if (how == "sandbox" || how == "pipe" || how == "locale") Gpu().work(kLaunches);
  std::puts("done");
  return 0;
}
