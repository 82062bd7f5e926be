// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch/callback_cost.h"

#include <algorithm>

namespace rangefinder {

void CallbackCost::add(std::int64_t ns) noexcept {
  const std::int64_t bin =
      std::clamp<std::int64_t>(ns / kBinNs, 0, static_cast<std::int64_t>(bins_.size()) - 1);
  bins_[static_cast<std::size_t>(bin)].fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t CallbackCost::quantile_ns(double q) const noexcept {
  std::uint64_t total = 0;
  for (const auto& bin : bins_) total += bin.load(std::memory_order_relaxed);
  const double wanted_count = q * static_cast<double>(total);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    seen += bins_[i].load(std::memory_order_relaxed);
    if (seen != 0 && static_cast<double>(seen) >= wanted_count) return (i + 1) * kBinNs;
  }
  return 0;
}

}  // namespace rangefinder
