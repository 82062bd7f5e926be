// SPDX-License-Identifier: Apache-2.0
//
// libcupti's host functions for tests of counters: needs no GPU, but libcupti's counter library.
#pragma once

#include "tests/catch.h"
#include "tests/unit/cupti/real_cupti.h"

namespace rangefinder::test {

// libcupti loads its counter library with RTLD_DEEPBIND, on which these sanitizers abort.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kCountersLoad = false;
#else
inline constexpr bool kCountersLoad = true;
#endif

/// As the profiler does before it first calls a counter function.
inline void preload_counters() {
  CuptiLibrary library;
  CuptiFailure failure;
  if (load_cupti({}, library, failure)) preload_counter_library(library);
}

}  // namespace rangefinder::test

/// First line of a test: defines `cupti`, the function table, or ends the test with a warning.
#define COUNTERS_OR_SKIP(cupti)                                            \
  if (!rangefinder::test::kCountersLoad) {                                 \
    WARN("skipped: libnvperf_host cannot be loaded under this sanitizer"); \
    return;                                                                \
  }                                                                        \
  REAL_CUPTI_OR_SKIP(cupti);                                               \
  rangefinder::test::preload_counters()
