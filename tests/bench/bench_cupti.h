// SPDX-License-Identifier: Apache-2.0
//
// libcupti as the library loads it, for benches that call it themselves.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "profiler/cupti/loader.h"

namespace rangefinder::bench {

/// Loaded once a process. Ends the program with exit code 3, and says why, where there is none.
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
