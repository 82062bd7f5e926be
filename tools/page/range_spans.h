// SPDX-License-Identifier: Apache-2.0
//
// The span of a range on the GPU: from the start of the first to the end of the last work launched inside it.
//
//   ranges that the page keeps ─▶ index by path and start
//   launch at t on a thread, in path a/b/c ─▶ the instances of a/b/c, a/b and a that were open at t
//
// Matches by the time of the launch, not by the range id of the record: GPU work names only its innermost
// range, which may not be in the page. Not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/analysis/model/trace_names.h"
#include "tools/page/page_counts.h"
#include "tools/page/recent_launches.h"

namespace rangefinder {

class RangeSpans {
 public:
  /// `ranges` is sorted by start. Both arguments must outlive this.
  RangeSpans(std::vector<KeptRange>& ranges, const TraceNames& names);

  void add(const SeenLaunch& launch, TimeNs start, TimeNs end);

 private:
  struct Instances {
    std::vector<std::uint32_t> places;  // indices in ranges_, sorted by start
    std::size_t latest = 0;             // last found; the next launch is probably in it too
  };
  [[nodiscard]] KeptRange* open_at(Instances& instances, const SeenLaunch& launch);

  std::vector<KeptRange>& ranges_;
  const TraceNames& names_;
  std::unordered_map<std::uint32_t, Instances> by_path_;
};

}  // namespace rangefinder
