// SPDX-License-Identifier: Apache-2.0
//
// forks exit|_exit|nvtx: the child of a process that uses CUDA ends so, or uses NVTX before.
// forks exec PROGRAM ARGS…: the child becomes another program.
// forks spawn|vfork|system PROGRAM ARGS…: the same by posix_spawn, by vfork, through a shell.
// forks daemon: only the daemon uses CUDA; its parent has ended by then.
// forks storm: 20 children while a thread launches.
// forks first: only the child uses CUDA, and only after the fork.
#include <spawn.h>
#include <sys/wait.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "tests/injection/programs/gpu.h"

namespace {

template <typename Child>
int status_of(Child child) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    child();
    _exit(99);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void end_child(const char* how) {
  if (std::strcmp(how, "exit") == 0) std::exit(4);
  if (std::strcmp(how, "_exit") == 0) _exit(4);
  for (int i = 0; i < 20'000; ++i) {
    nvtxRangePushA("in the child");
    nvtxMarkA("mark");
    nvtxRangePop();
  }
  if (cuCtxSynchronize() == CUDA_SUCCESS) _exit(98);  // CUDA is dead in a forked child
  std::exit(4);
}

void fork_in_a_storm(const Gpu& gpu) {
  std::atomic<bool> done{false};
  std::thread launcher([&] {
    gpu.use_on_this_thread();
    while (!done) {
      const Range range("storm");
      must(gpu.launch(3), "cuLaunchKernel");
    }
  });
  int ended_well = 0;
  for (int i = 0; i < 20; ++i) {
    ended_well += status_of([] { end_child("nvtx"); }) == 4 ? 1 : 0;
  }
  done = true;
  launcher.join();
  std::printf("%d of 20 children ended well\n", ended_well);
}

int spawned(char** words) {
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, words[0], nullptr, nullptr, words, environ) != 0) return -1;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

// What runs between vfork() and exec() runs in the parent's memory.
int vforked(char** words) {
  const pid_t child = vfork();
  if (child == 0) {
    execv(words[0], words);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

int be_a_daemon() {
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  Gpu().work(10);
  std::puts("the daemon is done");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* const how = argv[1];
  if (std::strcmp(how, "first") == 0) {
    std::printf("child: %d\n", status_of([] {
                  Gpu().work(10);
                  std::exit(4);
                }));
    return 0;
  }
  if (std::strcmp(how, "daemon") == 0) return be_a_daemon();
  const Gpu gpu;
  gpu.work(10);
  std::fflush(stdout);
  const Range open("open at the fork");
  if (std::strcmp(how, "storm") == 0) {
    fork_in_a_storm(gpu);
  } else if (std::strcmp(how, "exec") == 0) {
    std::printf("child: %d\n", status_of([&] { execv(argv[2], argv + 2); }));
  } else if (std::strcmp(how, "spawn") == 0) {
    std::printf("child: %d\n", spawned(argv + 2));
  } else if (std::strcmp(how, "vfork") == 0) {
    std::printf("child: %d\n", vforked(argv + 2));
  } else if (std::strcmp(how, "system") == 0) {
    std::printf("child: %d\n", WEXITSTATUS(std::system(argv[2])));
  } else {
    std::printf("child: %d\n", status_of([&] { end_child(how); }));
  }
  gpu.work(10);
  return 0;
}
