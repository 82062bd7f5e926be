// SPDX-License-Identifier: Apache-2.0
#include "profiler/large_stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

namespace rangefinder {
namespace {

// valgrind takes a step of less than 2,000,000 bytes for locals that come and go (--max-stackframe), and a
// thread whose stack lies right below this one would lose its frames in valgrind's books. What is not touched
// costs nothing.
constexpr std::size_t kStackBytes = std::size_t{2} << 20;
constexpr std::size_t kGuardBytes = 4096;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMaySwitch = false;  // they keep books of each thread's one stack
#else
constexpr bool kMaySwitch = true;
#endif

struct Switch {
  void (*work)(void*);
  void* argument;
  ucontext_t before, large;
};

/// makecontext() hands over numbers of 32 bits.
void enter(unsigned high, unsigned low) {
  auto* const self = reinterpret_cast<Switch*>(std::uintptr_t{high} << 32 | low);
  self->work(self->argument);
}

}  // namespace

void call_on_large_stack(void (*work)(void*), void* argument) noexcept {
  Switch self{work, argument, {}, {}};
  void* const memory = kMaySwitch ? mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0)
                                  : MAP_FAILED;
  if (memory == MAP_FAILED || getcontext(&self.large) != 0) {
    if (memory != MAP_FAILED) munmap(memory, kStackBytes);
    work(argument);
    return;
  }
  (void)mprotect(memory, kGuardBytes, PROT_NONE);
  self.large.uc_stack.ss_sp = memory;
  self.large.uc_stack.ss_size = kStackBytes;
  self.large.uc_link = &self.before;
  const auto address = reinterpret_cast<std::uintptr_t>(&self);
  makecontext(&self.large, reinterpret_cast<void (*)()>(&enter), 2, static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  if (swapcontext(&self.before, &self.large) != 0) work(argument);
  munmap(memory, kStackBytes);
}

}  // namespace rangefinder
