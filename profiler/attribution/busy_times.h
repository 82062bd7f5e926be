// SPDX-License-Identifier: Apache-2.0
//
// GPU busy time for each of many keys: the length of the union of its intervals, which arrive nearly in order
// (time_order.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/attribution/interval_union.h"
#include "profiler/attribution/time_order.h"

namespace rangefinder {

/// Work on a GPU, from `at_ns` to `end_ns`.
struct BusyWork {
  TimeNs at_ns, end_ns;
  std::uint32_t key;   ///< whose work it is
  bool counts = true;  ///< false: its time is taken, but not summed
};

class BusyTimes {
 public:
  void add(std::uint32_t key, std::int64_t start_ns, std::int64_t end_ns) {
    order_.add({start_ns, end_ns, key}, [this](const BusyWork& next) { put(busy_, next); });
  }
  /// By key, for keys below `keys`.
  [[nodiscard]] std::vector<std::uint64_t> lengths(std::size_t keys) const {
    std::vector<IntervalUnion> busy = busy_;
    order_.each_held([&busy](const BusyWork& next) { put(busy, next); });
    std::vector<std::uint64_t> lengths(keys);
    for (std::size_t key = 0; key < keys && key < busy.size(); ++key) lengths[key] = busy[key].length();
    return lengths;
  }

 private:
  static void put(std::vector<IntervalUnion>& busy, const BusyWork& next) {
    if (busy.size() <= next.key) busy.resize(next.key + std::size_t{1});
    busy[next.key].add(next.at_ns, next.end_ns);
  }

  mutable TimeOrder<BusyWork> order_;  // mutable: reading sorts
  std::vector<IntervalUnion> busy_;
};

}  // namespace rangefinder
