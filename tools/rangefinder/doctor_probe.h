// SPDX-License-Identifier: Apache-2.0
//
// `doctor --probe`: traces a program with known work, to test which features work on this machine.
//
//   rangefinder doctor --probe-program FILE   with the library, sampled ─▶ trace ─▶ kernels, paths, graph,
//   bytes
//                                             with the library, exact   ─▶ trace ─▶ bytes
#pragma once

#include <vector>

#include "tools/rangefinder/doctor_checks.h"

namespace rangefinder {

/// One finding per feature. Traces go to a temporary folder, which is removed.
[[nodiscard]] std::vector<HealthFinding> probe_features();

}  // namespace rangefinder
