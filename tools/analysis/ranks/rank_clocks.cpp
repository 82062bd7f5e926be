// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/rank_clocks.h"

#include <cstdlib>

namespace rangefinder {
namespace {

/// Two machines may have the same name (containers), but their uptimes differ by more than a second.
constexpr std::int64_t kSameClockNs = 1'000'000'000;

struct Differences {
  std::int64_t unix_ns, monotonic_ns;
  [[nodiscard]] std::int64_t apart_ns() const { return std::llabs(unix_ns - monotonic_ns); }
};

// A damaged trace may hold any base. So overflow wraps; it must not be undefined behaviour.
std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

Differences between(const Header& rank, const Header& reference) {
  return {minus(rank.base_unix_ns, reference.base_unix_ns),
          minus(rank.base_monotonic_ns, reference.base_monotonic_ns)};
}

bool one_clock(const Header& rank, const Header& reference) {
  return rank.host == reference.host && between(rank, reference).apart_ns() < kSameClockNs;
}

}  // namespace

std::vector<RankClock> align_clocks(const std::vector<const Header*>& ranks) {
  std::vector<RankClock> out;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankClock clock;
    clock.same_host = one_clock(*ranks[i], *ranks[0]);
    // The first rank with this clock is the reference for the other ranks of its host.
    std::size_t first = 0;
    while (first < i && !one_clock(*ranks[i], *ranks[first])) ++first;
    const Differences apart = between(*ranks[i], *ranks[first]);
    clock.offset_ns =
        first == i ? between(*ranks[i], *ranks[0]).unix_ns : minus(out[first].offset_ns, -apart.monotonic_ns);
    if (clock.same_host) clock.agree_within_ns = static_cast<std::uint64_t>(apart.apart_ns());
    out.push_back(clock);
  }
  return out;
}

}  // namespace rangefinder
