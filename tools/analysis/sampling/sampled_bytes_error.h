// SPDX-License-Identifier: Apache-2.0
//
// The error bound of a path's sampled bytes.
//
//   replicas ──────────────┐  perturbed rates, times and shapes: bytes that leak to and from other paths
//   time-shared ───────────┤  a part of what unmixing moved, in case the model is wrong
//   work without samples ──┼─▶ error_bytes: holds for 95 % of all paths; smaller where bytes are estimated
//   work that runs alone ──┤  what caches carry from one kernel to the next
//   the counters' own ─────┘  a floor
//
// Every part is computed from sums over the path and all paths below it. Bytes that leak between two children
// stay in the parent, so a parent's error is smaller than the sum of its children's errors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profiler/attribution/sample_order.h"
#include "tools/analysis/sampling/unmix.h"

namespace rangefinder {

/// Sums of one path and column, in bytes.
struct SharedSum {
  double bytes = 0;
  double time_shared = 0;
  std::array<double, kReplicas> replicas{};
  SharedSum& operator+=(const SharedSum& other) noexcept;
};

struct ErrorContext {
  SharedColumn column = kSharedDramRead;
  bool unmixed = false;
  std::uint64_t work_ns = 0, overlap_ns = 0;  ///< the path's work, and its part inside samples
  std::uint64_t estimated_ns = 0;             ///< part outside samples whose bytes are estimated
  double estimated_bytes = 0;                 ///< those bytes; not part of the sum
  double mean_bytes_per_ns = 0;               ///< mean rate of all work, for paths without samples
  double squared_carry = 0;                   ///< of the path and all paths below it
};

[[nodiscard]] double error_bytes(const SharedSum& sum, const ErrorContext& context) noexcept;

}  // namespace rangefinder
