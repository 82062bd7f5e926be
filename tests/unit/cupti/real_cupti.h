// SPDX-License-Identifier: Apache-2.0
//
// The libcupti of this machine, for tests that want the real thing: its iterator over
// activity buffers and its host API need no GPU.
#pragma once

#include "profiler/cupti/loader.h"
#include "tests/catch.h"

namespace rangefinder::test {

/// nullptr where there is no libcupti, with a warning that says so: the test then returns.
inline const CuptiFunctions* real_cupti() {
  struct Loaded {
    CuptiLibrary cupti;
    CuptiFailure failure;
    bool there = load_cupti({}, cupti, failure);
  };
  static const Loaded loaded;
  if (!loaded.there) WARN("skipped: " << loaded.failure.reason);
  return loaded.there ? &loaded.cupti.functions : nullptr;
}

}  // namespace rangefinder::test

/// First line of a test: `cupti` is the table of functions, or the test ends here with a warning.
#define REAL_CUPTI_OR_SKIP(cupti)                                                             \
  const rangefinder::CuptiFunctions* const cupti##_or_null = rangefinder::test::real_cupti(); \
  if (cupti##_or_null == nullptr) return;                                                     \
  const rangefinder::CuptiFunctions& cupti = *cupti##_or_null
