// SPDX-License-Identifier: Apache-2.0
//
// For packages. A static libstdc++ calls arc4random() for std::random_device, with which cpp-httplib makes
// the boundary between parts of a response; glibc has the function since 2.36 only. Ours takes its place at
// link time.
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() {
  std::uint32_t value = 0;
  // 4 bytes are never cut short. Without the system call, as in a strict sandbox, there is no answer that is
  // random.
  if (getrandom(&value, sizeof value, 0) != sizeof value) std::abort();
  return value;
}
