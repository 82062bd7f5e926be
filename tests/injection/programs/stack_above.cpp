// SPDX-License-Identifier: Apache-2.0
//
// Calls a function on a large stack from a thread whose own stack is mapped right below it. valgrind detects
// stack switches only by distance. It once mistook this switch for 1 MiB of locals, and invalidated the
// thread's frames. Aborts if the large stack is not above, or the call's result is not visible.
#include <pthread.h>
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "profiler/guest/large_stack.h"

namespace {

struct Seen {
  int value = 41;
  std::uintptr_t outside = 0, inside = 0;
};

void* on_thread(void* data) {
  auto& seen = *static_cast<Seen*>(data);
  seen.outside = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  rangefinder::on_large_stack([&seen] {
    seen.inside = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    ++seen.value;
  });
  return nullptr;
}

}  // namespace

int main() {
  constexpr std::size_t kStackBytes = 512 << 10, kHoleBytes = 16 << 20;
  void* const memory =
      mmap(nullptr, kStackBytes + kHoleBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  // valgrind maps at the lowest free address.
  munmap(static_cast<char*>(memory) + kStackBytes, kHoleBytes);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  Seen seen;
  pthread_t thread{};
  if (pthread_attr_setstack(&attributes, memory, kStackBytes) != 0 ||
      pthread_create(&thread, &attributes, &on_thread, &seen) != 0) {
    std::abort();
  }
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  munmap(memory, kStackBytes);
  if (seen.value != 42 || seen.inside < seen.outside) std::abort();
}
