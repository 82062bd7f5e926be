// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/collective_order.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

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

bool is_collective(const Collective& one) {
  return one.operation.find("Send") == std::string::npos && one.operation.find("Recv") == std::string::npos;
}

/// By start; those of a graph launch by their nodes, as branches of a graph run in any order.
void sort_lane(CollectiveOrder& order) {
  std::unordered_map<std::uint32_t, TimeNs> launches;  // start of the first one
  for (const Collective* const one : order) {
    if (one->launch != 0) launches.emplace(one->launch, one->start_ns);  // they are in order of start
  }
  const auto place = [&launches](const Collective* one) {
    return one->launch == 0 ? std::pair(one->start_ns, std::uint64_t{0})
                            : std::pair(launches.at(one->launch), one->node);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&place](const Collective* a, const Collective* b) { return place(a) < place(b); });
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

bool needs_all(const Collective& one) {
  static constexpr std::array<std::string_view, 5> kOperations{"AllReduce", "AllGather", "ReduceScatter",
                                                               "AlltoAll", "Barrier"};
  std::string_view rest = one.operation;
  while (true) {
    const std::size_t plus = rest.find('+');
    if (std::find(kOperations.begin(), kOperations.end(), rest.substr(0, plus)) == kOperations.end())
      return false;
    if (plus == std::string_view::npos) return true;
    rest.remove_prefix(plus + 1);
  }
}

std::vector<CollectiveLane> lanes_of(const CommunicationLog& log) {
  std::map<std::uint64_t, CollectiveOrder> by_communicator;
  std::map<std::tuple<bool, std::uint32_t, std::uint32_t>, CollectiveOrder> by_stream;
  for (const Collective& one : log.collectives()) {
    if (one.communicator != 0) {
      if (is_collective(one)) by_communicator[one.communicator].push_back(&one);
    } else if (needs_all(one)) {
      const bool in_graph = one.launch != 0;
      by_stream[{in_graph, one.context, in_graph ? 0 : one.stream}].push_back(&one);
    }
  }
  std::vector<CollectiveLane> out;
  for (auto& [communicator, order] : by_communicator) out.push_back({communicator, std::move(order)});
  for (auto& [stream, order] : by_stream) out.push_back({0, std::move(order)});
  for (CollectiveLane& lane : out) sort_lane(lane.order);
  return out;
}

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
