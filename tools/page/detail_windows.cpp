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

std::vector<Wish> of_iterations(const std::vector<Iteration>& all, std::optional<std::size_t> median) {
  if (all.size() < 3) return {};
  const auto duration = [](const Iteration& one) { return one.end_ns - one.start_ns; };
  const auto slowest = std::max_element(all.begin(), all.end(), [&](const Iteration& a, const Iteration& b) {
    return duration(a) < duration(b);
  });
  std::vector<Wish> out{{slowest->start_ns, "slowest iteration"}};
  if (median) out.push_back({all[*median].start_ns, "median iteration"});
  out.push_back({all.back().start_ns, "last iteration"});
  return out;
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
                             std::optional<std::size_t> median, std::uint64_t limit) {
  if (work.total() <= limit) return {{{INT64_MIN, INT64_MAX, "all"}}, true, limit};
  std::vector<Wish> wishes = of_iterations(iterations, median);
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
