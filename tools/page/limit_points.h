// SPDX-License-Identifier: Apache-2.0
//
// Data of the page's view Limits: GPU time over bytes with the lines of `report --fit`, and the roofline.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tools/analysis/queries/measured_kernels.h"
#include "tools/analysis/queries/section.h"
#include "tools/page/page_indices.h"

namespace rangefinder {

/// Fewer modules of a depth have no line: few points fit any.
inline constexpr std::size_t kMinModulesOfLine = 10;

/// Rows of byte_fit as in `report --fit --json` without warm-up, of all depths; each with its points: the
/// modules, the bounds of their bytes, and which are far from a line. A value is null where its bound forbids
/// a number.
[[nodiscard]] nlohmann::ordered_json byte_fit_json(const SectionInput& input, const PageIndices& indices,
                                                   nlohmann::ordered_json& omitted);

/// Adds "roofline": modules and kernels with operations: FLOP/s, FLOP per DRAM and L2 byte, the relative
/// bound of the DRAM bytes, the roof of `report --section roofline`; and "l2_peak_bytes_per_s", if a row
/// knows it.
void add_roofline(nlohmann::ordered_json& out, const SectionInput& input,
                  const std::vector<KernelTotals>& kernels,
                  const std::unordered_map<std::uint32_t, MeasuredKernel>& measured,
                  const PageIndices& indices);

}  // namespace rangefinder
