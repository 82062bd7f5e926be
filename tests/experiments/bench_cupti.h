// SPDX-License-Identifier: Apache-2.0
//
// libcupti as the library loads it, for benchmarks that call it directly.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "profiler/cupti/loader.h"

namespace rangefinder::bench {

/// Loads once per process. Without libcupti, prints the reason and exits with code 3.
inline const CuptiLibrary& cupti_or_exit() {
  struct Loaded {
    CuptiLibrary cupti;
    CuptiFailure failure;
    bool there = load_cupti("", cupti, failure);
  };
  static const Loaded loaded;
  if (!loaded.there) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, loaded.failure.reason.c_str());
    std::exit(3);
  }
  return loaded.cupti;
}

}  // namespace rangefinder::bench
