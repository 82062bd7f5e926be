// SPDX-License-Identifier: Apache-2.0
#include "profiler/attribution/held_values.h"

#include <algorithm>

namespace rangefinder {
namespace {

std::uint64_t to_three_digits(std::uint64_t value) noexcept {
  std::uint64_t unit = 1;
  while (value / unit >= 1000) unit *= 10;
  return value / unit * unit;
}

}  // namespace

void HeldValues::end(TimeNs at_ns) {
  if (empty_ || at_ns <= since_ns_) return;
  const auto ns = static_cast<std::uint64_t>(at_ns - since_ns_);
  times_ns_[to_three_digits(last_)] += ns;
  total_ns_ += ns;
  value_ns_ += static_cast<double>(last_) * static_cast<double>(ns);
  since_ns_ = at_ns;
}

void HeldValues::count(std::uint64_t value) {
  if (empty_) first_ = min_ = max_ = value;
  empty_ = false;
  last_ = value;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void HeldValues::set(TimeNs at_ns, std::uint64_t value) {
  if (empty_) since_ns_ = at_ns;
  end(at_ns);
  count(value);
}

std::uint64_t HeldValues::median() const {
  std::uint64_t below = 0;
  for (const auto& [value, ns] : times_ns_) {
    below += ns;
    if (below >= total_ns_ - total_ns_ / 2) return std::clamp(value, min_, max_);
  }
  return last_;  // it held for no time
}

double HeldValues::mean() const noexcept {
  return total_ns_ > 0 ? value_ns_ / static_cast<double>(total_ns_) : static_cast<double>(last_);
}

}  // namespace rangefinder
