// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/collective_order.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

namespace rangefinder {
namespace {

/// Ends of collectives that are compared for one shift.
constexpr std::size_t kMaxCompared = 256;
/// Shifts that are tried, in both directions.
constexpr std::ptrdiff_t kMaxShift = 4096;

/// Without a communicator the size of the grid shows that these are not the same.
bool are_alike(const Collective& a, const Collective& b) {
  return a.operation == b.operation && (a.communicator != 0 || a.threads == b.threads);
}

struct Difference {
  std::int64_t median_ns = 0;  ///< of the ends
  std::int64_t spread_ns = 0;  ///< median distance from that
};

std::int64_t median(std::vector<std::int64_t>& values) {
  const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

class Shifts {
 public:
  Shifts(const CollectiveOrder& first, const CollectiveOrder& other, std::int64_t offset_ns)
      : first_(first), other_(other), offset_ns_(offset_ns) {}

  /// nullopt: the operations differ, or too few are left.
  [[nodiscard]] std::optional<Difference> with(std::ptrdiff_t shift) const {
    const std::ptrdiff_t from = std::max<std::ptrdiff_t>(0, -shift);
    const std::ptrdiff_t to = std::min(size(first_), size(other_) - shift);
    if (to - from < least()) return {};
    for (std::ptrdiff_t i = from; i < to; ++i) {
      if (!are_alike(at(first_, i), at(other_, i + shift))) return {};
    }
    const std::ptrdiff_t step = 1 + (to - from - 1) / static_cast<std::ptrdiff_t>(kMaxCompared);
    std::vector<std::int64_t> apart;
    for (std::ptrdiff_t i = from; i < to; i += step)
      apart.push_back(at(other_, i + shift).end_ns + offset_ns_ - at(first_, i).end_ns);
    Difference out;
    out.median_ns = median(apart);
    for (std::int64_t& one : apart) one = std::llabs(one - out.median_ns);
    out.spread_ns = median(apart);
    return out;
  }
  [[nodiscard]] std::ptrdiff_t least() const {
    const bool known = first_.empty() || first_.front()->communicator != 0;
    return std::max<std::ptrdiff_t>(1, std::min(size(first_), size(other_)) / (known ? 4 : 2));
  }

 private:
  static std::ptrdiff_t size(const CollectiveOrder& order) {
    return static_cast<std::ptrdiff_t>(order.size());
  }
  static const Collective& at(const CollectiveOrder& order, std::ptrdiff_t i) {
    return *order[static_cast<std::size_t>(i)];
  }
  const CollectiveOrder& first_;
  const CollectiveOrder& other_;
  std::int64_t offset_ns_;
};

}  // namespace

std::optional<CollectiveShift> shift_between(const CollectiveOrder& first, const CollectiveOrder& other,
                                             std::int64_t offset_ns, bool clocks_agree) {
  const Shifts shifts(first, other, offset_ns);
  const auto cost = [clocks_agree](const Difference& difference) {
    return difference.spread_ns + (clocks_agree ? std::llabs(difference.median_ns) : 0);
  };
  const std::optional<Difference> none = shifts.with(0);
  if (none && cost(*none) <= kSameEndNs) return CollectiveShift{0, cost(*none)};
  std::optional<CollectiveShift> best;
  std::int64_t best_cost = 0;
  const auto most = static_cast<std::ptrdiff_t>(std::max(first.size(), other.size()));
  for (std::ptrdiff_t size = 0; size <= std::min(most, kMaxShift); ++size) {
    for (const std::ptrdiff_t shift : {size, -size}) {
      const std::optional<Difference> difference = shifts.with(shift);
      if (!difference || (best && cost(*difference) >= best_cost)) continue;
      best = {shift, cost(*difference)};
      best_cost = cost(*difference);
    }
  }
  // Times that repeat exactly show no difference between shifts.
  if (none && best_cost + kSameEndNs >= cost(*none)) return CollectiveShift{0, cost(*none)};
  return best;
}

}  // namespace rangefinder
