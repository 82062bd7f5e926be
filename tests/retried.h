// SPDX-License-Identifier: Apache-2.0
//
// For a bound of wall time, which a busy machine stretches. Everything else is checked without a second
// attempt.
#pragma once

#include <cstdio>

namespace rangefinder::test {

/// True if `attempt()` is true the first or the second time. A second attempt is printed; tools/check counts
/// these lines.
template <typename Attempt>
[[nodiscard]] bool retried_once(const char* label, const Attempt& attempt) {
  if (attempt()) return true;
  std::fprintf(stderr, "retried: %s\n", label);
  return attempt();
}

}  // namespace rangefinder::test
