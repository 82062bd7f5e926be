// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/rank_waits.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tools/analysis/ranks/collective_order.h"

namespace rangefinder {
namespace {

/// Collectives of one rank that are in the same order on all ranks.
struct Lane {
  std::size_t rank = 0;
  CollectiveOrder order;
};
/// Those of a communicator, or of one that is not known, but whose collectives end together.
using Lanes = std::vector<Lane>;

/// Adds those of a rank.
void add_lanes(std::size_t rank, const CommunicationLog& log, std::map<std::uint64_t, Lanes>& known,
               Lanes& unknown) {
  for (CollectiveLane& lane : lanes_of(log)) {
    (lane.communicator == 0 ? unknown : known[lane.communicator]).push_back({rank, std::move(lane.order)});
  }
}

std::optional<CollectiveShift> shift_of(const Lane& first, const Lane& other,
                                        const std::vector<RankClock>& clocks) {
  const RankClock &a = clocks[first.rank], &b = clocks[other.rank];
  return shift_between(first.order, other.order, b.offset_ns - a.offset_ns,
                       a.agree_within_ns.has_value() && b.agree_within_ns.has_value());
}

/// Lanes of several ranks that have the same collectives, which end together. Each lane is in one of them at
/// most, those that fit to none in none.
std::vector<Lanes> matched(Lanes unknown, const std::vector<RankClock>& clocks) {
  std::vector<Lanes> out;
  while (!unknown.empty()) {
    Lanes group{std::move(unknown.front())};
    unknown.erase(unknown.begin());
    for (std::size_t rank = group[0].rank + 1; rank < clocks.size(); ++rank) {
      auto best = unknown.end();
      std::int64_t best_ns = kSameEndNs + 1;
      for (auto at = unknown.begin(); at != unknown.end(); ++at) {
        if (at->rank != rank) continue;
        const std::optional<CollectiveShift> shift = shift_of(group[0], *at, clocks);
        if (!shift || shift->apart_ns >= best_ns) continue;
        best = at;
        best_ns = shift->apart_ns;
      }
      if (best == unknown.end()) continue;
      group.push_back(std::move(*best));
      unknown.erase(best);
    }
    if (group.size() > 1) out.push_back(std::move(group));
  }
  return out;
}

/// Some ranks, and their collectives from the first to the last that all of them have.
struct Members {
  std::vector<std::size_t> ranks;
  std::vector<CollectiveOrder> orders;  ///< of one length
};

/// No orders: the operations of the ranks differ.
Members common_part(const Lanes& lanes, const std::vector<RankClock>& clocks) {
  Members out;
  for (const Lane& lane : lanes) out.ranks.push_back(lane.rank);
  std::vector<std::ptrdiff_t> shifts;
  std::ptrdiff_t from = 0, to = static_cast<std::ptrdiff_t>(lanes[0].order.size());
  for (const Lane& lane : lanes) {
    const std::optional<CollectiveShift> shift = shift_of(lanes[0], lane, clocks);
    if (!shift) return out;
    shifts.push_back(shift->by);
    from = std::max(from, -shift->by);
    to = std::min(to, static_cast<std::ptrdiff_t>(lane.order.size()) - shift->by);
  }
  if (from >= to) return out;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const CollectiveOrder& order = lanes[i].order;
    out.orders.emplace_back(order.begin() + from + shifts[i], order.begin() + to + shifts[i]);
  }
  return out;
}

class Comparison {
 public:
  Comparison(const std::vector<ComparedRank>& ranks, const std::vector<RankClock>& clocks, RankWaits& out)
      : ranks_(ranks), clocks_(clocks), out_(out), places_(ranks.size()) {}

  /// Returns the number of kernels that were compared.
  std::size_t add(const Members& members) {
    std::size_t compared = 0;
    for (std::size_t i = 0; !members.orders.empty() && i < members.orders[0].size(); ++i) {
      if (!needs_all(*members.orders[0][i])) continue;
      compare(members, i);
      compared += members.ranks.size();
    }
    return compared;
  }
  /// Numbers the iterations of all ranks alike. Call it once with all communicators, before add().
  void place(const std::vector<Members>& all) {
    for (bool more = true;
         more;) {  // until every rank that shares a communicator with a placed one is placed
      more = false;
      for (const Members& members : all) more = place(members) || more;
    }
    std::int64_t least = INT64_MAX;  // number of the first iteration with collectives
    for (const Members& members : all) {
      for (std::size_t r = 0; r < members.ranks.size(); ++r) {
        const std::optional<std::int64_t> place = places_[members.ranks[r]];
        for (const Collective* const one : members.orders.empty() ? CollectiveOrder() : members.orders[r]) {
          if (place && one->iteration != SIZE_MAX)
            least = std::min(least, static_cast<std::int64_t>(one->iteration) - *place);
        }
      }
    }
    if (least == INT64_MAX) least = 0;
    for (const std::optional<std::int64_t>& place : places_) out_.first.push_back(place.value_or(0) + least);
  }

 private:
  bool place(const Members& members) {
    if (members.orders.empty()) return false;
    // The first collective that is in an iteration of all ranks.
    std::size_t common = 0;
    const auto outside = [&common](const CollectiveOrder& order) {
      return order[common]->iteration == SIZE_MAX;
    };
    while (common < members.orders[0].size() &&
           std::any_of(members.orders.begin(), members.orders.end(), outside))
      ++common;
    if (common == members.orders[0].size()) return false;
    const auto local = [&](std::size_t r) {
      return static_cast<std::int64_t>(members.orders[r][common]->iteration);
    };
    std::optional<std::int64_t> number;  // of the iteration, in the job
    for (std::size_t r = 0; r < members.ranks.size() && !number; ++r) {
      if (places_[members.ranks[r]]) number = local(r) - *places_[members.ranks[r]];
    }
    if (!number && std::any_of(places_.begin(), places_.end(), [](const auto& place) { return place; }))
      return false;
    bool placed = false;
    for (std::size_t r = 0; r < members.ranks.size(); ++r) {
      std::optional<std::int64_t>& place = places_[members.ranks[r]];
      if (place) continue;
      place = local(r) - number.value_or(local(0));
      placed = true;
    }
    return placed;
  }

  void compare(const Members& members, std::size_t i) {
    const auto length_of = [&](std::size_t r) {
      return duration_ns(members.orders[r][i]->start_ns, members.orders[r][i]->end_ns);
    };
    std::size_t last = 0;
    bool any_waited = false;
    for (std::size_t r = 1; r < members.ranks.size(); ++r) {
      any_waited = any_waited || length_of(r) != length_of(0);
      if (length_of(r) < length_of(last)) last = r;
    }
    RankWait& slowest = out_.ranks[members.ranks[last]];
    slowest.last_in += any_waited ? 1 : 0;
    ++out_.collectives;
    const std::uint64_t transfer_ns = length_of(last);
    std::uint64_t exposed_ns = 0;
    for (std::size_t r = 0; r < members.ranks.size(); ++r) {
      const std::size_t rank = members.ranks[r];
      const std::uint64_t waited_ns = length_of(r) - transfer_ns;
      out_.ranks[rank].waited_ns += waited_ns;
      out_.ranks[rank].transfer_ns += transfer_ns;
      slowest.made_wait_ns += waited_ns;
      exposed_ns += add_exposed(rank, *members.orders[r][i], waited_ns);
    }
    if (IterationWait* const wait = wait_of(members.ranks[last], *members.orders[last][i]))
      wait->made_wait_ns += exposed_ns;
    check_clocks(members, i);
  }

  /// Returns the exposed wait.
  std::uint64_t add_exposed(std::size_t rank, const Collective& one, std::uint64_t waited_ns) {
    const TimeNs came_ns = one.start_ns + static_cast<TimeNs>(waited_ns);
    const OwnBusy* const busy = ranks_[rank].own_busy;
    const auto exposed = [&](TimeNs from, TimeNs to) {
      return duration_ns(from, to) - (busy == nullptr ? 0 : busy->within(one.gpu, from, to));
    };
    const std::uint64_t exposed_ns = exposed(one.start_ns, came_ns);
    const std::uint64_t transfer_ns = exposed(came_ns, one.end_ns);
    if (IterationWait* const wait = wait_of(rank, one)) {
      wait->waited_ns += exposed_ns;
      wait->transfer_ns += transfer_ns;
      ModuleWait& module = out_.modules[rank][{one.path, one.iteration}];
      module.waited_ns += exposed_ns;
      module.transfer_ns += transfer_ns;
    }
    return exposed_ns;
  }

  /// nullptr: outside of iterations.
  IterationWait* wait_of(std::size_t rank, const Collective& one) {
    if (one.iteration == SIZE_MAX) return nullptr;
    const std::int64_t number = static_cast<std::int64_t>(one.iteration) - out_.first[rank];
    if (number < 0) return nullptr;
    const auto place = static_cast<std::size_t>(number);
    while (out_.iterations.size() <= place) out_.iterations.emplace_back(ranks_.size());
    return &out_.iterations[place][rank];
  }

  void check_clocks(const Members& members, std::size_t i) {
    TimeNs begin_ns = INT64_MIN, end_ns = INT64_MAX;
    for (std::size_t r = 0; r < members.ranks.size(); ++r) {
      const std::int64_t offset_ns = clocks_[members.ranks[r]].offset_ns;
      begin_ns = std::max(begin_ns, members.orders[r][i]->start_ns + offset_ns);
      end_ns = std::min(end_ns, members.orders[r][i]->end_ns + offset_ns);
    }
    if (end_ns < begin_ns) out_.clocks_off_ns = std::max(out_.clocks_off_ns, duration_ns(end_ns, begin_ns));
  }

  const std::vector<ComparedRank>& ranks_;
  const std::vector<RankClock>& clocks_;
  RankWaits& out_;
  std::vector<std::optional<std::int64_t>> places_;  // by rank: its iteration that is number 0
};

}  // namespace

RankWaits compare_collectives(const std::vector<ComparedRank>& compared,
                              const std::vector<RankClock>& clocks) {
  RankWaits out;
  out.ranks.resize(compared.size());
  out.modules.resize(compared.size());
  std::map<std::uint64_t, Lanes> known;
  Lanes unknown;
  for (std::size_t r = 0; r < compared.size(); ++r) {
    add_lanes(r, *compared[r].log, known, unknown);
    for (const auto& [gpu, overlap] : compared[r].log->overlaps())
      out.ranks[r].communication_ns += overlap.communication_ns;
  }
  for (const Lane& lane : unknown) out.unmatched += lane.order.size();
  std::vector<Lanes> groups = matched(std::move(unknown), clocks);
  for (auto& [communicator, lanes] : known) groups.push_back(std::move(lanes));
  std::vector<Members> all;
  std::vector<std::set<std::size_t>> others(compared.size());
  for (const Lanes& lanes : groups) {
    if (lanes.size() < 2) continue;
    all.push_back(common_part(lanes, clocks));
    const Members& members = all.back();
    for (const std::size_t rank : members.ranks)
      others[rank].insert(members.ranks.begin(), members.ranks.end());
  }
  for (const std::set<std::size_t>& set : others) out.others.push_back(set.empty() ? 0 : set.size() - 1);
  Comparison comparison(compared, clocks, out);
  comparison.place(all);
  for (const Members& members : all) {
    const std::size_t count = comparison.add(members);
    if (count != 0 && members.orders[0][0]->communicator == 0) out.unmatched -= count;
  }
  return out;
}

}  // namespace rangefinder
