// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/queries/host_timeline.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "tools/analysis/model/line_parts.h"

namespace rangefinder {
namespace {

/// Index of the first element later than `at`. Callers move forward in time, so it is usually near `hint`.
template <typename Places, typename TimeOf>
std::size_t first_after(const Places& places, TimeNs at, std::size_t hint, const TimeOf& time_of) {
  constexpr std::size_t kNear = 16;
  if (hint > places.size() || (hint != 0 && time_of(places[hint - 1]) > at)) hint = 0;
  const std::size_t near = std::min(places.size(), hint + kNear);
  for (; hint < near; ++hint) {
    if (time_of(places[hint]) > at) return hint;
  }
  const auto found =
      std::upper_bound(places.begin() + static_cast<std::ptrdiff_t>(hint), places.end(), at,
                       [&time_of](TimeNs time, const auto& place) { return time < time_of(place); });
  return static_cast<std::size_t>(found - places.begin());
}

}  // namespace

void HostTimeline::add_range(TimeNs start, TimeNs end, std::uint32_t path) {
  if (start == kNoTime) return;
  // A range that was never closed lasts to the end of the trace.
  append(ranges_, {start, end == kNoTime ? kMaxNs : end, path});
}

void HostTimeline::add_call(TimeNs start, TimeNs end, HostCall kind) {
  if (start == kNoTime || end == kNoTime || end <= start) return;
  constexpr std::uint64_t kMax = (std::uint64_t{1} << 62) - 1;
  const std::uint64_t length =
      std::min(static_cast<std::uint64_t>(end) - static_cast<std::uint64_t>(start), kMax);
  calls_.push_back({start, length & kMax, static_cast<std::uint8_t>(kind) & 3U});
}

void HostTimeline::add_step(TimeNs at, std::uint32_t path) {
  if (!step_times_.empty() && step_times_.back() == at) {
    step_paths_.back() = path;
    return;
  }
  step_times_.push_back(at);
  step_paths_.push_back(path);
}

void HostTimeline::finish() {
  // If ranges start at the same time, the outer one is longer or has the smaller path id.
  std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
    return std::tie(a.start, b.end, a.path) < std::tie(b.start, a.end, b.path);
  });
  std::vector<Range> open;
  const auto close_until = [&](TimeNs until) {
    while (!open.empty() && open.back().end <= until) {
      const TimeNs end = open.back().end;
      open.pop_back();
      if (step_times_.back() <= end) add_step(end, open.empty() ? 0 : open.back().path);
    }
  };
  step_times_.reserve(2 * ranges_.size());
  step_paths_.reserve(2 * ranges_.size());
  for (const Range& range : ranges_) {
    close_until(range.start);
    open.push_back(range);
    add_step(range.start, range.path);
  }
  close_until(kMaxNs);
  List<Range>().swap(ranges_);
  const auto earlier = [](const DriverCall& a, const DriverCall& b) { return a.start < b.start; };
  if (!std::is_sorted(calls_.begin(), calls_.end(), earlier)) {
    std::sort(calls_.begin(), calls_.end(), earlier);
  }
}

std::size_t HostTimeline::first_step_after(TimeNs at, std::size_t hint) const {
  return first_after(step_times_, at, hint, [](TimeNs time) { return time; });
}

/// Calls of a thread are consecutive: at most one that started earlier reaches into a piece.
void HostTimeline::add_calls(HostPiece& piece, std::size_t& first) const {
  first = first_after(calls_, piece.from_ns, first, [](const DriverCall& call) { return call.start; });
  TimeNs seen = piece.from_ns;
  for (auto call = calls_.begin() + static_cast<std::ptrdiff_t>(first == 0 ? 0 : first - 1);
       call != calls_.end() && call->start < piece.to_ns; ++call) {
    const TimeNs start = std::max(call->start, seen);
    const TimeNs end = std::min(call->end(), piece.to_ns);
    if (end <= start) continue;
    piece.calls[call->kind] += static_cast<std::uint64_t>(end - start);
    seen = end;
  }
}

}  // namespace rangefinder
