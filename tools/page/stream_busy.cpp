// SPDX-License-Identifier: Apache-2.0
#include "tools/page/stream_busy.h"

#include <algorithm>
#include <cmath>

namespace rangefinder {

StreamBusy::StreamBusy(std::size_t lanes, std::size_t bins, TimeNs first_ns, TimeNs last_ns)
    : first_ns_(first_ns),
      width_ns_(std::max<TimeNs>(1, (last_ns - first_ns) / static_cast<TimeNs>(bins) + 1)),
      bins_(bins),
      busy_ns_(2 * lanes, std::vector<float>(bins, 0)) {}

void StreamBusy::add(std::size_t lane, bool is_kernel, TimeNs start, TimeNs end) {
  std::vector<float>& bins = busy_ns_[2 * lane + (is_kernel ? 1U : 0U)];
  TimeNs at = std::max(start, first_ns_);
  while (at < end) {
    const auto bin = static_cast<std::size_t>((at - first_ns_) / width_ns_);
    if (bin >= bins_) return;
    const TimeNs bin_end = first_ns_ + static_cast<TimeNs>(bin + 1) * width_ns_;
    const TimeNs until = std::min(end, bin_end);
    bins[bin] += static_cast<float>(until - at);
    at = until;
  }
}

std::vector<std::int64_t> StreamBusy::permille(std::size_t lane, bool of_kernels) const {
  std::vector<std::int64_t> out(bins_);
  const std::vector<float>& bins = busy_ns_[2 * lane + (of_kernels ? 1U : 0U)];
  for (std::size_t i = 0; i < bins_; ++i) {
    const double part = 1000.0 * static_cast<double>(bins[i]) / static_cast<double>(width_ns_);
    // Rounded up, so that a bin with any work is not drawn as empty.
    out[i] = std::min<std::int64_t>(1000, static_cast<std::int64_t>(std::ceil(part)));
  }
  return out;
}

}  // namespace rangefinder
