// SPDX-License-Identifier: Apache-2.0
#include "tools/page/range_spans.h"

#include <algorithm>

namespace rangefinder {
namespace {

/// Maximum instances of one path checked; each thread may have one open.
constexpr std::size_t kMaxThreadsChecked = 16;

}  // namespace

RangeSpans::RangeSpans(std::vector<KeptRange>& ranges, const TraceNames& names)
    : ranges_(ranges), names_(names) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].name == 0 && ranges[i].path != 0) {
      by_path_[ranges[i].path].places.push_back(static_cast<std::uint32_t>(i));
    }
  }
}

KeptRange* RangeSpans::open_at(Instances& instances, const SeenLaunch& launch) {
  const auto holds = [&](std::size_t place) {
    const KeptRange& range = ranges_[instances.places[place]];
    return range.thread == launch.thread && range.start_ns <= launch.start_ns &&
           launch.start_ns <= range.end_ns;
  };
  if (holds(instances.latest)) return &ranges_[instances.places[instances.latest]];
  const auto after =
      std::upper_bound(instances.places.begin(), instances.places.end(), launch.start_ns,
                       [this](TimeNs time, std::uint32_t place) { return time < ranges_[place].start_ns; });
  auto place = static_cast<std::size_t>(after - instances.places.begin());
  for (std::size_t tries = 0; place > 0 && tries < kMaxThreadsChecked; ++tries) {
    --place;
    if (!holds(place)) continue;
    instances.latest = place;
    return &ranges_[instances.places[place]];
  }
  return nullptr;
}

void RangeSpans::add(const SeenLaunch& launch, TimeNs start, TimeNs end) {
  if (start == kNoTime || end < start) return;
  for (std::uint32_t path = launch.path; path != 0; path = names_.parent_of(path)) {
    const auto at = by_path_.find(path);
    if (at == by_path_.end()) continue;
    KeptRange* const range = open_at(at->second, launch);
    if (range == nullptr) continue;
    range->gpu_start_ns = range->gpu_start_ns == kNoTime ? start : std::min(range->gpu_start_ns, start);
    range->gpu_end_ns = std::max(range->gpu_end_ns, end);
  }
}

}  // namespace rangefinder
