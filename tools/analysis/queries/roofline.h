// SPDX-License-Identifier: Apache-2.0
//
// The roof of a row's arithmetic intensity: `report --section roofline` and the page's plot.
#pragma once

#include <optional>

#include "profiler/attribution/derived.h"

namespace rangefinder {

struct Roof {
  double flop_per_s = 0;
  const char* is = "";  ///< "DRAM", "compute"
};
/// The lower of FLOP/byte times the DRAM's peak, and the peak of the types that it computes with; absent: one
/// of them is unknown.
[[nodiscard]] std::optional<Roof> roof_of(const Derived& derived, const GpuPeaks& peaks);

}  // namespace rangefinder
