// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_error.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {
namespace {

// The 95 % quantile of Student's t with kDrawnReplicas degrees of freedom.
constexpr double kDeviations = 2.2;
// Factor on what moves when the jitter of times is added a second time.
constexpr double kJitterPart = 1.5;
// Factor on what unmixing moved between paths.
constexpr double kModelPart = 0.1;
// Factor on what work outside samples would move at its path's rate; the path has none of these bytes.
constexpr double kUnsampledPart = 1.25;
// Factor on the bytes estimated for lost samples.
constexpr double kEstimatedPart = 0.25;
// Variation of counters, clocks and cache state between runs.
constexpr double kFloorPart = 0.01;

double deviation_of(const SharedSum& sum) noexcept {
  double squares = 0;
  for (std::size_t k = 0; k < kDrawnReplicas; ++k) {
    squares += (sum.replicas[k] - sum.bytes) * (sum.replicas[k] - sum.bytes);
  }
  return std::sqrt(squares / kDrawnReplicas);
}

double unsampled_bytes(const SharedSum& sum, const ErrorContext& context) noexcept {
  const auto work = static_cast<double>(context.work_ns), overlap = static_cast<double>(context.overlap_ns),
             estimated = static_cast<double>(context.estimated_ns);
  const double rate = overlap > 0 ? sum.bytes / overlap : context.mean_bytes_per_ns;
  return kUnsampledPart * std::max(0.0, work - overlap - estimated) * rate +
         kEstimatedPart * context.estimated_bytes;
}

}  // namespace

SharedSum& SharedSum::operator+=(const SharedSum& other) noexcept {
  bytes += other.bytes;
  time_shared += other.time_shared;
  for (std::size_t k = 0; k < kReplicas; ++k) replicas[k] += other.replicas[k];
  return *this;
}

double error_bytes(const SharedSum& sum, const ErrorContext& context) noexcept {
  const double moved = context.unmixed ? std::abs(sum.bytes - sum.time_shared) : 0;
  const double jitter_shift = context.unmixed ? std::abs(sum.replicas[kJitterReplica] - sum.bytes) : 0;
  // Estimated bytes are derived from the measured ones and have the same relative error.
  const double grown = sum.bytes > 0 ? 1 + context.estimated_bytes / sum.bytes : 1;
  return grown * (kDeviations * deviation_of(sum) + kJitterPart * jitter_shift + kModelPart * moved +
                  kFloorPart * sum.bytes) +
         unsampled_bytes(sum, context) + std::sqrt(context.squared_carry);
}

}  // namespace rangefinder
