// SPDX-License-Identifier: Apache-2.0
//
// What caches carry from one kernel to the next: a part of the error of sampled bytes.
#pragma once

#include <array>
#include <cstdint>

#include "profiler/attribution/sample_order.h"

namespace rangefinder {

/// How far a path's bytes may differ from those of the same kernels run alone, as exact counters measure
/// them. A written cache line reaches DRAM while a later kernel runs, and a kernel finds code, parameters and
/// data of its predecessor in the caches. In squared bytes, so that paths can be added: what one path gains,
/// another loses.
[[nodiscard]] inline double squared_carry(SharedColumn column, double l2_bytes,
                                          std::uint64_t pieces_of_work) noexcept {
  // By SharedColumn, fitted to Hugging Face's RT-DETR on an H200 (docs/internals/measured.md): part of a
  // path's L2 bytes, and bytes per kernel.
  constexpr std::array<double, kSharedColumns> kCarriedPart{0.0005, 0.015, 0.02};
  constexpr std::array<double, kSharedColumns> kCarriedBytes{5e3, 60e3, 70e3};
  const double carried =
      kCarriedPart[column] * l2_bytes + kCarriedBytes[column] * static_cast<double>(pieces_of_work);
  return carried * carried;
}

}  // namespace rangefinder
