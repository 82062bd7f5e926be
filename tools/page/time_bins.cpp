// SPDX-License-Identifier: Apache-2.0
#include "tools/page/time_bins.h"

namespace rangefinder {

void TimeBins::add(TimeNs at, std::uint64_t n) {
  const std::uint64_t time = at < 0 ? 0 : static_cast<std::uint64_t>(at);
  while ((time >> shift_) >= counts_.size()) {
    const std::size_t half = counts_.size() / 2;
    for (std::size_t i = 0; i < half; ++i) counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    for (std::size_t i = half; i < counts_.size(); ++i) counts_[i] = 0;
    ++shift_;
  }
  counts_[time >> shift_] += n;
  total_ += n;
}

}  // namespace rangefinder
