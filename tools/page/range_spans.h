// SPDX-License-Identifier: Apache-2.0
//
// How long a range lasted on the GPU: from the first to the last piece of work launched inside of it.
//
//   ranges that the page keeps ─▶ index by path and start
//   launch at t on a thread, in path a/b/c ─▶ the instances of a/b/c, a/b and a that were open at t
//
// By the time of the launch, not by the record's range id, because a piece of work names only the
// innermost range, and the page need not have kept that one. Not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/analysis/read/trace_totals.h"
#include "tools/page/page_counts.h"
#include "tools/page/recent_launches.h"

namespace rangefinder {

class RangeSpans {
 public:
  /// `ranges`, sorted by start, and `trace` outlive this.
  RangeSpans(std::vector<KeptRange>& ranges, const TraceTotals& trace);

  void add(const SeenLaunch& launch, TimeNs start, TimeNs end);

 private:
  struct Instances {
    std::vector<std::uint32_t> places;  // in ranges_, by start
    std::size_t latest = 0;             // found last: the next launch is most likely in it too
  };
  [[nodiscard]] KeptRange* open_at(Instances& instances, const SeenLaunch& launch);

  std::vector<KeptRange>& ranges_;
  const TraceTotals& trace_;
  std::unordered_map<std::uint32_t, Instances> by_path_;
};

}  // namespace rangefinder
