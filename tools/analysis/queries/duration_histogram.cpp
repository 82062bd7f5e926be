// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/duration_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rangefinder {
namespace {

/// 2^kBits buckets per octave: the width of a bucket is at most 1/64 of its values.
constexpr unsigned kBits = 6;
constexpr std::uint64_t kPerOctave = std::uint64_t{1} << kBits;
constexpr std::uint64_t kExact = 2 * kPerOctave;  // shorter durations have one bucket each

std::size_t bucket_of(std::uint64_t ns) noexcept {
  if (ns < kExact) return ns;
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - (kBits + 1);
  return kExact + (shift - 1) * kPerOctave + ((ns >> shift) - kPerOctave);
}

std::uint64_t middle_of(std::size_t bucket) noexcept {
  if (bucket < kExact) return bucket;
  const std::uint64_t above = bucket - kExact;
  const auto shift = static_cast<unsigned>(above / kPerOctave) + 1;
  const std::uint64_t lowest = (kPerOctave + above % kPerOctave) << shift;
  return lowest + (std::uint64_t{1} << (shift - 1));
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) noexcept {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace

std::uint64_t& DurationHistogram::at(std::size_t bucket) {
  if (counts_.empty()) first_ = bucket;
  if (bucket < first_) {
    counts_.insert(counts_.begin(), first_ - bucket, 0);
    first_ = bucket;
  }
  if (bucket - first_ >= counts_.size()) counts_.resize(bucket - first_ + 1);
  return counts_[bucket - first_];
}

void DurationHistogram::add(std::uint64_t ns) {
  ++at(bucket_of(ns));
  min_ns_ = count_ == 0 ? ns : std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
  total_ns_ = saturating_sum(total_ns_, ns);
  ++count_;
}

void DurationHistogram::add(const DurationHistogram& other) {
  if (other.count_ == 0) return;
  // Extends the span at both ends first, so that a histogram can be added to itself.
  at(other.first_);
  at(other.first_ + other.counts_.size() - 1);
  for (std::size_t i = 0; i < other.counts_.size(); ++i) at(other.first_ + i) += other.counts_[i];
  min_ns_ = count_ == 0 ? other.min_ns_ : std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  total_ns_ = saturating_sum(total_ns_, other.total_ns_);
  count_ += other.count_;
}

double DurationHistogram::mean_ns() const noexcept {
  return count_ == 0 ? 0 : static_cast<double>(total_ns_) / static_cast<double>(count_);
}

std::uint64_t DurationHistogram::quantile_ns(double part) const noexcept {
  if (count_ == 0) return 0;
  const double ranked = std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(count_));
  const std::uint64_t rank = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(ranked));
  if (rank >= count_) return max_ns_;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return std::clamp(middle_of(first_ + i), min_ns_, max_ns_);
  }
  return max_ns_;
}

}  // namespace rangefinder
