// SPDX-License-Identifier: Apache-2.0
//
// load.h without a GPU, for overhead_test.py. A launch of a storm claims to take 0.2 us, or twice that if
// Rangefinder is to be loaded. In that case the third counted round of graph launches ends the process.
#include <cstdio>
#include <cstdlib>

#include "tests/bench/overhead/load.h"

double load_storm(std::uint32_t, std::uint64_t launches, std::uint64_t) {
  const double us = std::getenv("CUDA_INJECTION64_PATH") != nullptr ? 0.4 : 0.2;
  return us * 1e-6 * static_cast<double>(launches);
}

double load_graph(std::uint32_t, std::uint64_t launches) {
  static int rounds = 0;
  if (launches > 1 && ++rounds == 5 && std::getenv("CUDA_INJECTION64_PATH") != nullptr) {
    std::fprintf(stderr, "the graph was too long\n");
    std::exit(1);
  }
  return 1e-6;
}

double load_tokens(std::uint32_t, std::uint64_t) {
  return 1e-6;
}

double load_rtdetr(int, std::uint64_t) {
  return -1;
}
