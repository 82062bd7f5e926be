// SPDX-License-Identifier: Apache-2.0
#include "profiler/counters/sampling/pm_pace.h"

#include <algorithm>

namespace rangefinder {

void PmPace::begin(std::int64_t now_ns) noexcept {
  from_ns_ = now_ns + kWarmUpNs;
  last_.reset();
  before_.reset();
}

std::optional<PmPace::Change> PmPace::check(const Work& work, std::uint32_t interval_ns) noexcept {
  if (work.now_ns < from_ns_) return std::nullopt;
  if (!last_) {
    last_ = work;
    return std::nullopt;
  }
  const std::int64_t passed_ns = work.now_ns - last_->now_ns;
  if (passed_ns < kPeriodNs) return std::nullopt;
  const auto samples = static_cast<double>(work.samples - last_->samples);
  const auto lost = static_cast<double>(work.lost - last_->lost);
  const Rates now{samples + lost > 0 ? lost / (samples + lost) : 0,
                  static_cast<double>(work.cpu_ns - last_->cpu_ns) / static_cast<double>(passed_ns)};
  const Rates before = before_.value_or(Rates{});
  last_ = work;
  before_ = now;

  double factor = 1;
  const char* reason = "";
  if (now.lost > kMuchLost || (now.lost > kLost && before.lost > kLost)) {
    factor = kLostRoom / (1 - std::min(now.lost, 0.75));
    reason = "behind";
  }
  if (max_cores_ > 0 && std::min(now.cores, before.cores) > max_cores_) {
    const double cpu = std::max(now.cores, before.cores) / max_cores_ * kCpuRoom;
    if (cpu > factor) {
      factor = cpu;
      reason = "cpu";
    }
  }
  if (factor <= 1) return std::nullopt;
  return Change{static_cast<std::uint32_t>(interval_ns * factor), reason};
}

}  // namespace rangefinder
