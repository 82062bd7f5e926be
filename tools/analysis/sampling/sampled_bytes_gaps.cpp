// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampling/sampled_bytes_gaps.h"

#include <algorithm>

namespace rangefinder {
namespace {

constexpr std::size_t kMaxGaps = std::size_t{1} << 20;
// Sampling intervals differ slightly from the requested one: a smaller part is no loss.
constexpr double kMinPart = 0.02;

/// In floating point, because damaged times must not overflow.
double length(TimeNs from_ns, TimeNs to_ns) noexcept {
  return static_cast<double>(to_ns) - static_cast<double>(from_ns);
}

}  // namespace

void SampleGaps::add(const SamplesRecord& samples) {
  Last& last = last_[samples.gpu];
  double sampled_ns = 0, count = 0;
  for (const SampleRun& run : samples.runs) {
    sampled_ns += length(run.start_ns, run.end_ns);
    count += run.count;
  }
  if (count > 0) last.interval_ns = sampled_ns / count;
  last.idle_ns += static_cast<double>(samples.idle_samples) * last.interval_ns;
  if (samples.runs.empty()) return;

  std::vector<Gap> found;
  double gaps_ns = 0;
  for (const SampleRun& run : samples.runs) {
    const double gap_ns = last.any ? length(last.end_ns, run.start_ns) : 0;
    if (gap_ns > last.interval_ns / 2) {
      found.push_back({last.end_ns, run.start_ns});
      gaps_ns += gap_ns;
    }
    // Never moves back, even in a damaged trace: gaps must stay sorted and disjoint.
    last.end_ns = last.any ? std::max(last.end_ns, run.end_ns) : run.end_ns;
    last.any = true;
  }
  const double lost_ns = gaps_ns - last.idle_ns;
  last.idle_ns = 0;
  if (lost_ns < last.interval_ns || lost_ns < kMinPart * gaps_ns || count_ + found.size() > kMaxGaps) return;
  count_ += found.size();
  std::vector<Gap>& gaps = gaps_[samples.gpu];
  gaps.insert(gaps.end(), found.begin(), found.end());
}

std::uint64_t SampleGaps::lost_ns(std::uint32_t gpu, TimeNs from_ns, TimeNs to_ns) const noexcept {
  const auto known = gaps_.find(gpu);
  if (known == gaps_.end()) return 0;
  const std::vector<Gap>& gaps = known->second;
  std::uint64_t lost = 0;
  for (auto gap = std::upper_bound(gaps.begin(), gaps.end(), from_ns,
                                   [](TimeNs at, const Gap&one) { return at < one.end_ns; });
       gap != gaps.end() && gap->start_ns < to_ns; ++gap) {
    const TimeNs start = std::max(from_ns, gap->start_ns), end = std::min(to_ns, gap->end_ns);
    if (end > start) lost += static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start);
  }
  return lost;
}

}  // namespace rangefinder
