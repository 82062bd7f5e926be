// SPDX-License-Identifier: Apache-2.0
#include "profiler/guest/large_stack.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <cstddef>
#include <cstdint>

#include "profiler/guest/sanitizer_runtime.h"

namespace rangefinder {
namespace {

// valgrind takes a stack pointer change of less than 2,000,000 bytes for ordinary frames (--max-stackframe).
// It would then lose the frames of a thread whose stack lies right below this one. Untouched pages cost
// nothing.
constexpr std::size_t kStackBytes = std::size_t{2} << 20;
constexpr std::size_t kGuardBytes = 4096;

/// Sanitizers track one stack a thread and report a switch.
bool may_switch() noexcept {
  return sanitizer_that_ends_deep_binding() == nullptr && sanitizer_that_misjudges_us() == nullptr;
}

struct Switch {
  void (*work)(void*);
  void* argument;
  ucontext_t before, large;
};

/// makecontext() passes arguments of 32 bits.
void enter(unsigned high, unsigned low) {
  auto* const self = reinterpret_cast<Switch*>(std::uintptr_t{high} << 32 | low);
  self->work(self->argument);
}

/// False: `work` was not called.
bool call_there(void (*work)(void*), void* argument) noexcept {
  Switch self{work, argument, {}, {}};
  void* const memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  (void)mprotect(memory, kGuardBytes, PROT_NONE);
  bool called = getcontext(&self.large) == 0;
  if (called) {
    self.large.uc_stack.ss_sp = memory;
    self.large.uc_stack.ss_size = kStackBytes;
    self.large.uc_link = &self.before;
    const auto address = reinterpret_cast<std::uintptr_t>(&self);
    makecontext(&self.large, reinterpret_cast<void (*)()>(&enter), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
    called = swapcontext(&self.before, &self.large) == 0;
  }
  munmap(memory, kStackBytes);
  return called;
}

}  // namespace

bool call_on_large_stack(void (*work)(void*), void* argument, WithoutLargeStack otherwise) noexcept {
  const bool switches = may_switch();
  if (switches && call_there(work, argument)) return true;
  if (switches && otherwise == WithoutLargeStack::not_at_all) return false;
  work(argument);
  return true;
}

}  // namespace rangefinder
