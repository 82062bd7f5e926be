// SPDX-License-Identifier: Apache-2.0
//
// exits HOW [ALIVE_MS]: 50 launches in work/step, ALIVE_MS of host work, then the process ends by HOW.
// inside-exit, inside-_exit and inside-fork: in a signal handler that interrupts a launch.
// short: 12 times 5 launches and a wait for the GPU, whose ends are printed (ns since 1970), then _exit().
// late: 10 more launches in an exit() handler that was registered before CUDA's.
#include <sys/time.h>
#include <sys/wait.h>

#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "tests/injection/programs/gpu.h"

namespace {

bool launches_at_exit = false;
const Gpu* used_gpu = nullptr;

void at_exit() {
  if (launches_at_exit) {
    used_gpu->work(10);
    must(cuCtxSynchronize(), "cuCtxSynchronize");
  }
  std::puts("the program's own exit handler ran");
}

/// Other threads launch forever. The process must end nevertheless.
void exit_while_others_launch(const Gpu& gpu) {
  for (int i = 0; i < 4; ++i) {
    std::thread([&gpu] {
      gpu.use_on_this_thread();
      while (gpu.launch(7) == CUDA_SUCCESS) {
        const Range range("busy");
        (void)gpu.launch(8);
        take_us(10);  // the time of two launches with a real driver
      }
      for (;;) pause();
    }).detach();
  }
  stay_alive_ms(100);
  std::exit(5);
}

/// Runs `handler` as a signal handler inside a launch, on the launching thread.
void launch_and_handle(void (*handler)(int)) {
  std::signal(SIGUSR1, handler);
  Gpu::launch_one(Gpu::kernel("_Z12raise_signalPf"));
}

pid_t forked = -1;

void fork_in_a_launch(const Gpu& gpu) {
  launch_and_handle([](int) { forked = fork(); });
  if (forked == 0) std::exit(4);
  int status = 0;
  waitpid(forked, &status, 0);
  must(gpu.launch(1), "cuLaunchKernel");
  std::printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/// Ends in a signal handler that interrupts NVTX calls, each with a new name.
[[noreturn]] void exit_in_nvtx() {
  std::signal(SIGALRM, [](int) { std::exit(5); });
  const itimerval once{{0, 0}, {0, 20'000}};
  setitimer(ITIMER_REAL, &once, nullptr);
  for (unsigned i = 0;; ++i) {
    char name[32];
    std::snprintf(name, sizeof name, "new name %u", i);
    const Range range(name);
    nvtxNameCategoryA(i, name);
    nvtxRangeEnd(nvtxRangeStartA(name));
  }
}

[[noreturn]] void live_for_a_short_time(const Gpu& gpu) {
  for (int i = 0; i < 12; ++i) {
    gpu.work(5);
    must(cuCtxSynchronize(), "cuCtxSynchronize");
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    std::printf("%lld\n", static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec);
    stay_alive_ms(15);
  }
  must(cuCtxSynchronize(), "cuCtxSynchronize");
  std::fflush(stdout);
  _exit(5);
}

void end(const char* how, const Gpu& gpu) {
  if (std::strcmp(how, "short") == 0) live_for_a_short_time(gpu);
  if (std::strcmp(how, "inside-exit") == 0) launch_and_handle([](int) { std::exit(5); });
  if (std::strcmp(how, "inside-_exit") == 0) launch_and_handle([](int) { _exit(5); });
  if (std::strcmp(how, "inside-fork") == 0) fork_in_a_launch(gpu);
  if (std::strcmp(how, "exit") == 0) std::exit(5);
  if (std::strcmp(how, "_exit") == 0) _exit(5);
  if (std::strcmp(how, "abort") == 0) std::abort();
  if (std::strcmp(how, "kill") == 0) raise(SIGKILL);
  if (std::strcmp(how, "segv") == 0) raise(SIGSEGV);
  if (std::strcmp(how, "term") == 0) raise(SIGTERM);
  if (std::strcmp(how, "throw") == 0) throw std::runtime_error("nobody catches it");
  if (std::strcmp(how, "quick_exit") == 0) std::quick_exit(5);
  if (std::strcmp(how, "exit-in-thread") == 0) std::thread([] { std::exit(5); }).join();
  if (std::strcmp(how, "exit-while-launching") == 0) exit_while_others_launch(gpu);
  if (std::strcmp(how, "exit-in-nvtx") == 0) exit_in_nvtx();
  if (std::strcmp(how, "exit-in-range") == 0) {
    nvtxRangePushA("never popped");
    must(gpu.launch(1), "cuLaunchKernel");
    std::exit(5);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::atexit(at_exit);
  static const Gpu gpu;
  used_gpu = &gpu;
  launches_at_exit = std::strcmp(argv[1], "late") == 0;
  gpu.work(50);
  std::puts("50 launches");
  std::fflush(stdout);
  if (argc > 2) stay_alive_ms(std::atol(argv[2]));
  end(argv[1], gpu);
  return 5;  // `return`
}
