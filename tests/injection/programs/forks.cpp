// SPDX-License-Identifier: Apache-2.0
//
// forks exit|_exit|nvtx: the child of a CUDA process ends by exit() or _exit(); nvtx: it uses NVTX first.
// forks exec PROGRAM ARGS…: the child execs another program.
// forks spawn|vfork|system PROGRAM ARGS…: the same by posix_spawn, by vfork, by a shell.
// forks daemon: only the daemon uses CUDA, after its parent has ended.
// forks storm: 20 children while a thread launches.
// forks first: only the child uses CUDA, and only after the fork.
// forks handlers: atfork handlers use NVTX; some are registered before CUDA and some after.
// forks mutex: atfork handlers take a lock that another thread holds while it uses NVTX.
// forks signal: a signal handler uses NVTX and forks. It interrupts NVTX calls with new names.
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string_view>
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
  if (cuCtxSynchronize() == CUDA_SUCCESS) _exit(98);  // CUDA does not work in a forked child
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

// A new name, made without allocation because signal handlers use this too.
struct NewName {
  explicit NewName(std::string_view about) {
    static std::atomic<unsigned> last{0};
    char* const end = std::copy(about.begin(), about.end(), text.begin());
    *std::to_chars(end, text.end() - 1, last.fetch_add(1)).ptr = '\0';
  }
  std::array<char, 48> text{};
};

// Everything that makes the library allocate: names, domains, strings, ranges ended on another thread.
void use_nvtx(std::string_view about) {
  nvtxDomainHandle_t const domain = nvtxDomainCreateA(NewName(about).text.data());
  nvtxStringHandle_t const string = nvtxDomainRegisterStringA(domain, NewName(about).text.data());
  nvtxRangeId_t const range = nvtxRangeStartA(NewName(about).text.data());
  nvtxRangePushA(NewName(about).text.data());
  nvtxMarkA(NewName(about).text.data());
  nvtxNameCategoryA(1, NewName(about).text.data());
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = string;
  nvtxDomainMarkEx(domain, &event);
  nvtxRangePop();
  nvtxRangeEnd(range);
}

void use_nvtx_in_handlers() {
  pthread_atfork([] { use_nvtx("before a fork "); }, [] { use_nvtx("in the parent "); },
                 [] { use_nvtx("in the child "); });
}

void fork_in_handlers() {
  use_nvtx_in_handlers();
  const Gpu gpu;
  gpu.work(10);
  use_nvtx_in_handlers();
  for (int i = 0; i < 3; ++i) std::printf("child: %d\n", status_of([] { end_child("nvtx"); }));
  gpu.work(10);
}

std::mutex of_application;

// Registered before CUDA, these run after the library's handlers. The library then holds its locks while
// these wait for this one.
void fork_while_another_has_a_lock() {
  pthread_atfork([] { of_application.lock(); }, [] { of_application.unlock(); },
                 [] { of_application.unlock(); });
  const Gpu gpu;
  gpu.work(10);
  std::atomic<bool> locked{false};
  std::thread other([&] {
    use_nvtx("without a lock ");
    const std::lock_guard lock(of_application);
    locked = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    for (int i = 0; i < 3; ++i) use_nvtx("with a lock ");
  });
  while (!locked) std::this_thread::yield();
  std::printf("child: %d\n", status_of([] { end_child("nvtx"); }));
  other.join();
  gpu.work(10);
}

volatile sig_atomic_t forks_left = 100, forks_ended_well = 0;

void fork_in_a_signal(int) {
  const int error = errno;
  if (forks_left > 0) {
    forks_left = forks_left - 1;
    nvtxMarkA(NewName("in a signal ").text.data());
    const pid_t pid = fork();
    if (pid == 0) {
      use_nvtx("in the child ");
      _exit(4);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 4) forks_ended_well = forks_ended_well + 1;
  }
  errno = error;
}

// Another thread takes the same locks meanwhile. The signal is sent to this thread. A signal to the
// process would be delivered to a driver thread while this one is in the handler.
void fork_in_signals(const Gpu& gpu) {
  struct sigaction action {};
  action.sa_handler = fork_in_a_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  std::thread other([&gpu] {
    gpu.use_on_this_thread();
    while (forks_left > 0) {
      use_nvtx("another new name ");
      std::this_thread::sleep_for(std::chrono::microseconds(20));  // or fork() waits long for the locks
    }
  });
  std::thread sender([forking = pthread_self()] {
    while (forks_left > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      pthread_kill(forking, SIGUSR1);
    }
  });
  while (forks_left > 0) use_nvtx("a new name ");
  sender.join();
  other.join();
  gpu.work(10);
  std::printf("%d of 100 children ended well\n", static_cast<int>(forks_ended_well));
}

// Code between vfork() and exec() runs in the parent's memory.
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
  if (std::strcmp(how, "handlers") == 0) {
    fork_in_handlers();
    return 0;
  }
  if (std::strcmp(how, "mutex") == 0) {
    fork_while_another_has_a_lock();
    return 0;
  }
  const Gpu gpu;
  gpu.work(10);
  std::fflush(stdout);
  const Range open("open at the fork");
  if (std::strcmp(how, "storm") == 0) {
    fork_in_a_storm(gpu);
  } else if (std::strcmp(how, "signal") == 0) {
    fork_in_signals(gpu);
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
