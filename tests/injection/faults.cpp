// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into a program (LD_PRELOAD). Makes C library calls fail, but only calls of the profiler's own
// library. The program's own calls do not fail.
//
//   FAULT_ALLOCATION=N       the N-th allocation fails        FAULT_ALLOCATION=N+   and every later one
//   FAULT_LARGE=BYTES        every allocation of BYTES or more fails
//   FAULT_THREAD=N, N+       pthread_create
//   FAULT_OPEN=N, N+         open, mkdir, rename, opendir, with the error FAULT_ERRNO (default: no space)
//   FAULT_DISK_BYTES=N       write() accepts N bytes in all; then no space is left
//   FAULT_OPEN_MS=N          these four take N ms, as on a busy disk; not below /proc and /sys
//   FAULT_CLOCK_STEP=N       from the N-th reading on, CLOCK_REALTIME is an hour ahead
//
// FAULT_COUNTS=FILE: receives the counts at exit, as words "allocations=N …". "in_program" counts our
// allocations on the program's threads. "io_in_program" counts our calls there that read, write, open,
// create, rename or stat a file or a socket. Allocations that the C library makes on the profiler's behalf
// (opendir) count as the C library's and never fail.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define FAULT_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" void* __libc_malloc(std::size_t bytes);
extern "C" void* __libc_calloc(std::size_t count, std::size_t bytes);
extern "C" void* __libc_realloc(void* old, std::size_t bytes);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t bytes);

namespace {

/// One kind of call: how often it was made, and which calls fail.
struct Fault {
  const char* variable;
  std::atomic<long> seen{0};
  std::atomic<long> first{-1};  // -1: not read yet; 0: none fails
  bool and_later = false;

  bool strikes() {
    const long number = seen.fetch_add(1) + 1;
    long wanted = first.load();
    if (wanted < 0) {
      const char* const text = getenv(variable);
      and_later = text != nullptr && std::strchr(text, '+') != nullptr;
      wanted = text != nullptr ? std::atol(text) : 0;
      first.store(wanted);
    }
    return wanted != 0 && (number == wanted || (and_later && number > wanted));
  }
};

Fault allocations{"FAULT_ALLOCATION"}, threads{"FAULT_THREAD"}, opens{"FAULT_OPEN"},
    looks{"FAULT_CLOCK_STEP"};
std::atomic<long> disk_bytes{0}, in_program{0}, io_in_program{0};

std::atomic<std::uintptr_t> begin_of_code{0}, end_of_code{0};

long number_from(const char* variable, long fallback) {
  const char* const text = getenv(variable);
  return text != nullptr ? std::atol(text) : fallback;
}

/// True if the profiler's library is the caller. Allocates nothing and takes no loader lock.
bool called_from(void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  if (end_of_code.load() != 0) return address >= begin_of_code.load() && address < end_of_code.load();
  dl_find_object found{};
  if (_dl_find_object(caller, &found) != 0 || found.dlfo_link_map == nullptr) return false;
  if (std::strstr(found.dlfo_link_map->l_name, "librangefinder") == nullptr) return false;
  begin_of_code.store(reinterpret_cast<std::uintptr_t>(found.dlfo_map_start));
  end_of_code.store(reinterpret_cast<std::uintptr_t>(found.dlfo_map_end));
  return true;
}

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// Increments `count` if this is a thread of the program.
void count_in_program(std::atomic<long>& count) {
  static const bool counts = getenv("FAULT_COUNTS") != nullptr;
  char thread[16] = {};
  if (counts && prctl(PR_GET_NAME, thread) == 0 && std::strncmp(thread, "rangefinder", 11) != 0)
    count.fetch_add(1);
}

/// True if this allocation by the profiler must fail.
bool allocation_fails(std::size_t bytes) {
  count_in_program(in_program);
  const long large = number_from("FAULT_LARGE", 0);
  return allocations.strikes() || (large != 0 && bytes >= static_cast<std::size_t>(large));
}

#define CALLED_BY_US called_from(__builtin_return_address(0))

void be_slow(const char* path) {
  if (std::strncmp(path, "/proc/", 6) == 0 || std::strncmp(path, "/sys/", 5) == 0) return;  // not on a disk
  const long ms = number_from("FAULT_OPEN_MS", 0);
  const timespec pause{ms / 1000, ms % 1000 * 1'000'000};
  if (ms != 0) nanosleep(&pause, nullptr);
}

bool open_fails(const char* path) {
  count_in_program(io_in_program);
  be_slow(path);
  if (!opens.strikes()) return false;
  errno = static_cast<int>(number_from("FAULT_ERRNO", ENOSPC));
  return true;
}

}  // namespace

FAULT_EXPORT void* malloc(std::size_t bytes) {
  return CALLED_BY_US && allocation_fails(bytes) ? nullptr : __libc_malloc(bytes);
}
FAULT_EXPORT void* calloc(std::size_t count, std::size_t bytes) {
  return CALLED_BY_US && allocation_fails(count * bytes) ? nullptr : __libc_calloc(count, bytes);
}
FAULT_EXPORT void* realloc(void* old, std::size_t bytes) {
  return CALLED_BY_US && allocation_fails(bytes) ? nullptr : __libc_realloc(old, bytes);
}
FAULT_EXPORT void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return CALLED_BY_US && allocation_fails(bytes) ? nullptr : __libc_memalign(alignment, bytes);
}
FAULT_EXPORT int posix_memalign(void** result, std::size_t alignment, std::size_t bytes) {
  if (CALLED_BY_US && allocation_fails(bytes)) return ENOMEM;
  *result = __libc_memalign(alignment, bytes);
  return *result == nullptr ? ENOMEM : 0;
}
/// An anonymous mapping counts as an allocation.
FAULT_EXPORT void* mmap(void* where, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  if (CALLED_BY_US && (flags & MAP_ANONYMOUS) != 0 && allocation_fails(bytes)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  static auto* const real = next<decltype(mmap)>("mmap");
  return real(where, bytes, protection, flags, file, offset);
}

FAULT_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                                void* argument) {
  if (CALLED_BY_US && threads.strikes()) return EAGAIN;
  static auto* const real = next<decltype(pthread_create)>("pthread_create");
  return real(thread, attributes, run, argument);
}

FAULT_EXPORT int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);  // harmless if the caller gave none: open() ignores it then
  va_end(rest);
  if (CALLED_BY_US && open_fails(path)) return -1;
  static auto* const real = next<int(const char*, int, ...)>("open");
  return real(path, flags, mode);
}
FAULT_EXPORT int mkdir(const char* path, mode_t mode) {
  if (CALLED_BY_US && open_fails(path)) return -1;
  static auto* const real = next<decltype(mkdir)>("mkdir");
  return real(path, mode);
}
FAULT_EXPORT int rename(const char* from, const char* to) {
  if (CALLED_BY_US && open_fails(from)) return -1;
  static auto* const real = next<decltype(rename)>("rename");
  return real(from, to);
}
FAULT_EXPORT DIR* opendir(const char* path) {
  if (CALLED_BY_US && open_fails(path)) return nullptr;
  static auto* const real = next<decltype(opendir)>("opendir");
  return real(path);
}

FAULT_EXPORT ssize_t write(int file, const void* data, std::size_t bytes) {
  static auto* const real = next<decltype(write)>("write");
  static const long room = number_from("FAULT_DISK_BYTES", -1);
  struct stat status {};
  if (CALLED_BY_US) count_in_program(io_in_program);
  if (room < 0 || !CALLED_BY_US || fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    return real(file, data, bytes);
  const long before = disk_bytes.fetch_add(static_cast<long>(bytes));
  if (before >= room) {
    errno = ENOSPC;
    return -1;
  }
  return real(file, data, static_cast<std::size_t>(std::min(static_cast<long>(bytes), room - before)));
}

FAULT_EXPORT ssize_t read(int file, void* data, std::size_t bytes) {
  static auto* const real = next<decltype(read)>("read");
  if (CALLED_BY_US) count_in_program(io_in_program);
  return real(file, data, bytes);
}
FAULT_EXPORT ssize_t send(int socket, const void* data, std::size_t bytes, int flags) {
  static auto* const real = next<decltype(send)>("send");
  if (CALLED_BY_US) count_in_program(io_in_program);
  return real(socket, data, bytes, flags);
}
FAULT_EXPORT ssize_t recv(int socket, void* data, std::size_t bytes, int flags) {
  static auto* const real = next<decltype(recv)>("recv");
  if (CALLED_BY_US) count_in_program(io_in_program);
  return real(socket, data, bytes, flags);
}
FAULT_EXPORT int access(const char* path, int mode) {
  static auto* const real = next<decltype(access)>("access");
  if (CALLED_BY_US) count_in_program(io_in_program);
  return real(path, mode);
}

FAULT_EXPORT int clock_gettime(clockid_t clock, timespec* time) {
  static auto* const real = next<decltype(clock_gettime)>("clock_gettime");
  const int result = real(clock, time);
  static const bool steps = getenv("FAULT_CLOCK_STEP") != nullptr;
  if (!steps || clock != CLOCK_REALTIME || !CALLED_BY_US) return result;
  static std::atomic<bool> stepped{false};
  if (looks.strikes()) stepped.store(true);
  if (stepped.load()) time->tv_sec += 3600;
  return result;
}

// Written only at exit(). No test counts the calls of a killed process.
__attribute__((destructor)) static void report_counts() {
  const char* const path = getenv("FAULT_COUNTS");
  FILE* const file = path != nullptr ? std::fopen(path, "w") : nullptr;
  if (file == nullptr) return;
  std::fprintf(file, "allocations=%ld in_program=%ld io_in_program=%ld threads=%ld opens=%ld looks=%ld\n",
               allocations.seen.load(), in_program.load(), io_in_program.load(), threads.seen.load(),
               opens.seen.load(), looks.seen.load());
  std::fclose(file);
}
