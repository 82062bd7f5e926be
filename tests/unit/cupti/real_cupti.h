// SPDX-License-Identifier: Apache-2.0
//
// The real libcupti of this machine, for tests: its iterator over activity buffers and its
// host API need no GPU.
#pragma once

#include "profiler/cupti/loader.h"
#include "tests/catch.h"

namespace rangefinder::test {

/// nullptr if there is no libcupti, with a warning. The test then returns.
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

/// First line of a test: defines `cupti` as the table of functions, or ends the test with a warning.
#define REAL_CUPTI_OR_SKIP(cupti)                                                             \
  const rangefinder::CuptiFunctions* const cupti##_or_null = rangefinder::test::real_cupti(); \
  if (cupti##_or_null == nullptr) return;                                                     \
  const rangefinder::CuptiFunctions& cupti = *cupti##_or_null
