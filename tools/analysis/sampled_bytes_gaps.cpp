// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/sampled_bytes_gaps.h"

#include <algorithm>

namespace rangefinder {
namespace {

constexpr std::size_t kMostGaps = std::size_t{1} << 20;
// Intervals are not quite what was asked for: less than that is no loss.
constexpr double kLeastPart = 0.02;

}  // namespace

void SampleGaps::add(const SamplesRecord& samples) {
  Last& last = last_[samples.gpu];
  TimeNs sampled_ns = 0, count = 0;
  for (const SampleRun& run : samples.runs) {
    sampled_ns += run.end_ns - run.start_ns;
    count += run.count;
  }
  if (count > 0) last.interval_ns = sampled_ns / count;
  last.idle_ns += static_cast<TimeNs>(samples.idle_samples) * last.interval_ns;
  if (samples.runs.empty()) return;

  std::vector<Gap> found;
  TimeNs gaps_ns = 0;
  for (const SampleRun& run : samples.runs) {
    const TimeNs gap_ns = last.any ? run.start_ns - last.end_ns : 0;
    if (gap_ns > last.interval_ns / 2) {
      found.push_back({last.end_ns, run.start_ns});
      gaps_ns += gap_ns;
    }
    last.end_ns = run.end_ns;
    last.any = true;
  }
  const TimeNs lost_ns = gaps_ns - last.idle_ns;
  last.idle_ns = 0;
  const bool lacks_samples = lost_ns >= last.interval_ns &&
                             static_cast<double>(lost_ns) >= kLeastPart * static_cast<double>(gaps_ns);
  if (!lacks_samples || count_ + found.size() > kMostGaps) return;
  count_ += found.size();
  std::vector<Gap>& gaps = gaps_[samples.gpu];
  gaps.insert(gaps.end(), found.begin(), found.end());
}

TimeNs SampleGaps::lost_ns(std::uint32_t gpu, TimeNs from_ns, TimeNs to_ns) const noexcept {
  const auto known = gaps_.find(gpu);
  if (known == gaps_.end()) return 0;
  const std::vector<Gap>& gaps = known->second;
  TimeNs lost = 0;
  for (auto gap = std::upper_bound(gaps.begin(), gaps.end(), from_ns,
                                   [](TimeNs at, const Gap&one) { return at < one.end_ns; });
       gap != gaps.end() && gap->start_ns < to_ns; ++gap) {
    lost += std::max<TimeNs>(0, std::min(to_ns, gap->end_ns) - std::max(from_ns, gap->start_ns));
  }
  return lost;
}

}  // namespace rangefinder
