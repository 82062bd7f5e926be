// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_limits.h"

#include <algorithm>

namespace rangefinder {

PageLimits PageLimits::shared_by(std::size_t traces) const {
  PageLimits out = *this;
  const std::size_t n = std::max<std::size_t>(1, traces);
  for (std::size_t PageLimits::*limit :
       {&PageLimits::modules, &PageLimits::kernels, &PageLimits::kernel_modules, &PageLimits::configs,
        &PageLimits::iterations, &PageLimits::work, &PageLimits::ranges, &PageLimits::syncs,
        &PageLimits::holds, &PageLimits::streams, &PageLimits::bins, &PageLimits::samples,
        &PageLimits::memory_points}) {
    out.*limit = std::max<std::size_t>(1, out.*limit / n);
  }
  // Bins merge in pairs, so their number must be a power of two.
  while ((out.bins & (out.bins - 1)) != 0) out.bins &= out.bins - 1;
  return out;
}

}  // namespace rangefinder
