// SPDX-License-Identifier: Apache-2.0
//
// How far the sampled bytes of a path may be from the true ones.
//
//   replicas ──────────────┐  rates, times and shapes shaken: what leaks to and from other paths
//   time-shared ───────────┤  what the model moved: if it is wrong, part of that is
//   work without samples ──┼─▶ error_bytes: holds for 95 % of all paths; less where its bytes are estimated
//   work that runs alone ──┤  what caches carry from one kernel to the next
//   the counters' own ─────┘  a floor
//
// All parts are of sums over the path and all below it. What leaks between two children of a path
// moves no byte of the path itself, so a parent's error is less than its children's together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "profiler/attribution/sample_order.h"
#include "tools/analysis/sampling/unmix.h"

namespace rangefinder {

/// Of one path and column, in bytes.
struct SharedSum {
  double bytes = 0;
  double time_shared = 0;
  std::array<double, kReplicas> replicas{};
  SharedSum& operator+=(const SharedSum& other) noexcept;
};

/// What one path's own work may move more or less where each kernel runs alone, as exact counters see it
/// and as one thinks of it: a line that it wrote goes to DRAM while a later kernel runs, and a kernel that
/// follows another finds code, parameters and data in the caches. Squared bytes, so that paths can be
/// added: what one gains another loses.
[[nodiscard]] double squared_carry(SharedColumn column, double l2_bytes,
                                   std::uint64_t pieces_of_work) noexcept;

struct ErrorContext {
  SharedColumn column = kSharedDramRead;
  bool unmixed = false;
  std::uint64_t work_ns = 0, overlap_ns = 0;  ///< of the path's work, and of it inside of samples
  std::uint64_t estimated_ns = 0;             ///< of what is not, part whose bytes are estimated
  double estimated_bytes = 0;                 ///< these, beside those of the sum
  double mean_bytes_per_ns = 0;               ///< of all work: for paths without samples
  double squared_carry = 0;                   ///< of the path and all below it
};

[[nodiscard]] double error_bytes(const SharedSum& sum, const ErrorContext& context) noexcept;

}  // namespace rangefinder
