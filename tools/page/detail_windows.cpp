// SPDX-License-Identifier: Apache-2.0
#include "tools/page/detail_windows.h"

#include <algorithm>

namespace rangefinder {

void TimeBins::add(TimeNs at, std::uint64_t n) {
  const std::uint64_t time = at < 0 ? 0 : static_cast<std::uint64_t>(at);
  while ((time >> shift_) >= counts_.size()) {
    const std::size_t half = counts_.size() / 2;
    for (std::size_t i = 0; i < half; ++i) counts_[i] = counts_[2 * i] + counts_[2 * i + 1];
    for (std::size_t i = half; i < counts_.size(); ++i) counts_[i] = 0;
    ++shift_;
  }
  counts_[time >> shift_] += n;
  total_ += n;
}

namespace {

constexpr std::size_t kWindows = 8;

struct Wish {
  TimeNs start_ns;
  const char* why;
};

std::vector<Wish> of_iterations(const std::vector<Iteration>& all) {
  if (all.size() < 3) return {};
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto duration = [&](std::size_t i) { return all[i].end_ns - all[i].start_ns; };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return duration(a) < duration(b); });
  return {{all[order.back()].start_ns, "slowest iteration"},
          {all[order[order.size() / 2]].start_ns, "median iteration"},
          {all.back().start_ns, "last iteration"}};
}

/// Start times that divide the work into equal parts.
std::vector<Wish> evenly(const TimeBins& work) {
  std::vector<Wish> out;
  std::uint64_t seen = 0;
  for (std::size_t bin = 0; bin < work.counts().size() && out.size() < kWindows; ++bin) {
    if (work.counts()[bin] != 0 && seen >= work.total() / kWindows * out.size()) {
      out.push_back({static_cast<TimeNs>(bin) * work.width_ns(), out.empty() ? "beginning" : "in between"});
    }
    seen += work.counts()[bin];
  }
  return out;
}

/// The window from the wished start to the end of its share of work.
TimeWindow window_of(const Wish& wish, const TimeBins& work, std::uint64_t share) {
  const auto first = static_cast<std::size_t>(std::max<TimeNs>(0, wish.start_ns) / work.width_ns());
  std::size_t bin = first;
  std::uint64_t kept = 0;
  while (bin < work.counts().size() && (bin == first || kept + work.counts()[bin] <= share)) {
    kept += work.counts()[bin++];
  }
  return {wish.start_ns, static_cast<TimeNs>(bin) * work.width_ns(), wish.why};
}

}  // namespace

DetailWindows choose_windows(const TimeBins& work, const std::vector<Iteration>& iterations,
                             std::uint64_t limit) {
  if (work.total() <= limit) return {{{INT64_MIN, INT64_MAX, "all"}}, true, limit};
  std::vector<Wish> wishes = of_iterations(iterations);
  for (const Wish& wish : evenly(work)) {
    if (wishes.size() < kWindows) wishes.push_back(wish);
  }
  DetailWindows out;
  out.share = limit / wishes.size();
  for (const Wish& wish : wishes) {
    const TimeWindow fresh = window_of(wish, work, out.share);
    const bool overlaps = std::any_of(out.windows.begin(), out.windows.end(), [&](const TimeWindow& other) {
      return fresh.start_ns < other.end_ns && other.start_ns < fresh.end_ns;
    });
    if (!overlaps) out.windows.push_back(fresh);
  }
  std::sort(out.windows.begin(), out.windows.end(),
            [](const TimeWindow& a, const TimeWindow& b) { return a.start_ns < b.start_ns; });
  return out;
}

}  // namespace rangefinder
