// SPDX-License-Identifier: Apache-2.0
//
// `doctor --probe`: known work through every feature, to see what works here and not what ought to.
//
//   rangefinder doctor --probe-program FILE   under the library, sampled ─▶ trace ─▶ kernels, paths, graph,
//   bytes
//                                             under the library, exact   ─▶ trace ─▶ bytes
#pragma once

#include <vector>

#include "tools/rangefinder/doctor_checks.h"

namespace rangefinder {

/// A finding a feature; traces go to a temporary folder and are removed.
[[nodiscard]] std::vector<HealthFinding> probe_features();

}  // namespace rangefinder
