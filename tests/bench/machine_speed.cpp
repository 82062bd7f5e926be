// SPDX-License-Identifier: Apache-2.0
//
// Prints how many times slower this machine is right now than that of docs/internals/measured.md, for
// benchmarks that are not in C++: "1.65".
#include "tests/bench/machine_speed.h"

#include <cstdio>

int main() {
  std::printf("%.2f\n", rangefinder::times_slower(rangefinder::loop_seconds()));
  return 0;
}
