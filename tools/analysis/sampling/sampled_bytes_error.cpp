// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_error.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {
namespace {

// 95 % of Student's t with kDrawnReplicas degrees of freedom.
constexpr double kDeviations = 2.2;
// Of what moved when times were made as bad again.
constexpr double kJitterPart = 1.5;
// Of what unmixing moved between paths.
constexpr double kModelPart = 0.1;
// Of what work outside of samples would have moved at its path's rate: none of it was given to the path.
constexpr double kUnsampledPart = 1.25;
// Of what was estimated for lost samples.
constexpr double kEstimatedPart = 0.25;
// Counters, clocks and the caches' state from run to run.
constexpr double kFloorPart = 0.01;

// By SharedColumn, fitted to RT-DETR of Hugging Face's on an H200 (docs/measured.md): part of a path's L2
// bytes, and bytes a kernel.
constexpr std::array<double, kSharedColumns> kCarriedPart{0.0005, 0.015, 0.02};
constexpr std::array<double, kSharedColumns> kCarriedBytes{5e3, 60e3, 70e3};

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

double squared_carry(SharedColumn column, double l2_bytes, std::uint64_t pieces_of_work) noexcept {
  const double carried =
      kCarriedPart[column] * l2_bytes + kCarriedBytes[column] * static_cast<double>(pieces_of_work);
  return carried * carried;
}

double error_bytes(const SharedSum& sum, const ErrorContext& context) noexcept {
  const double moved = context.unmixed ? std::abs(sum.bytes - sum.time_shared) : 0;
  const double led_astray = context.unmixed ? std::abs(sum.replicas[kJitterReplica] - sum.bytes) : 0;
  // What is wrong of the measured bytes is wrong of those estimated from them.
  const double grown = sum.bytes > 0 ? 1 + context.estimated_bytes / sum.bytes : 1;
  return grown * (kDeviations * deviation_of(sum) + kJitterPart * led_astray + kModelPart * moved +
                  kFloorPart * sum.bytes) +
         unsampled_bytes(sum, context) + std::sqrt(context.squared_carry);
}

}  // namespace rangefinder
