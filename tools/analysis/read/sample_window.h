// SPDX-License-Identifier: Apache-2.0
//
// The time span of a trace whose hardware samples are attributed to GPU work.
#pragma once

#include <cstdint>

#include "profiler/base/duration.h"

namespace rangefinder {

/// [from_ns, to_ns), relative to Header::base_unix_ns. The default is the whole trace.
struct SampleWindow {
  TimeNs from_ns = INT64_MIN;
  TimeNs to_ns = INT64_MAX;
};

}  // namespace rangefinder
