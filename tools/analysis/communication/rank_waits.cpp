// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/communication/rank_waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace rangefinder {
namespace {

struct Span {
  TimeNs start_ns, end_ns;
};
/// Of one rank; by communicator, in order of start.
using ByCommunicator = std::map<std::uint64_t, std::vector<const Collective*>>;

bool is_collective(const Collective& one) {
  return one.operation.find("Send") == std::string::npos && one.operation.find("Recv") == std::string::npos;
}

/// True for collectives that cannot end on any rank before all ranks have begun.
bool needs_all(const Collective& one) {
  static constexpr std::array<std::string_view, 4> kOperations{"AllReduce", "AllGather", "ReduceScatter",
                                                               "AlltoAll"};
  return std::find(kOperations.begin(), kOperations.end(), one.operation) != kOperations.end();
}

ByCommunicator sorted(const CommunicationLog& log) {
  ByCommunicator out;
  for (const Collective& one : log.collectives()) {
    if (is_collective(one)) out[one.communicator].push_back(&one);
  }
  return out;
}

class Comparison {
 public:
  Comparison(const std::vector<RankClock>& clocks, RankWaits& out) : clocks_(clocks), out_(out) {}

  /// Adds one communicator: its `ranks`, and their collectives. False: they cannot be compared.
  bool add(const std::vector<std::size_t>& ranks,
           const std::vector<const std::vector<const Collective*>*>& all) {
    const auto same = [&all](const auto* other) {
      return std::equal(all[0]->begin(), all[0]->end(), other->begin(), other->end(),
                        [](const auto* a, const auto* b) { return a->operation == b->operation; });
    };
    if (ranks.size() < 2 || !std::all_of(all.begin(), all.end(), same)) return false;
    for (std::size_t i = 0; i < all[0]->size(); ++i) {
      std::vector<Span> spans;
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        const std::int64_t offset = clocks_[ranks[r]].offset_ns;
        spans.push_back({(*all[r])[i]->start_ns + offset, (*all[r])[i]->end_ns + offset});
      }
      compare(ranks, spans, needs_all(*(*all[0])[i]));
    }
    return true;
  }

 private:
  void compare(const std::vector<std::size_t>& ranks, const std::vector<Span>& spans, bool all_needed) {
    const auto last = std::max_element(spans.begin(), spans.end(),
                                       [](const Span& a, const Span& b) { return a.start_ns < b.start_ns; });
    RankWait& slowest = out_.ranks[ranks[static_cast<std::size_t>(last - spans.begin())]];
    ++slowest.last_in;
    ++out_.collectives;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const TimeNs until = std::min(last->start_ns, spans[r].end_ns);
      const auto waited_ns = static_cast<std::uint64_t>(std::max<TimeNs>(until - spans[r].start_ns, 0));
      out_.ranks[ranks[r]].waited_ns += waited_ns;
      slowest.made_wait_ns += waited_ns;
      if (all_needed && spans[r].end_ns < last->start_ns) {
        out_.clocks_off_ns =
            std::max(out_.clocks_off_ns, static_cast<std::uint64_t>(last->start_ns - spans[r].end_ns));
      }
    }
  }

  const std::vector<RankClock>& clocks_;
  RankWaits& out_;
};

}  // namespace

RankWaits compare_collectives(const std::vector<const CommunicationLog*>& logs,
                              const std::vector<RankClock>& clocks) {
  RankWaits out;
  out.ranks.resize(logs.size());
  std::vector<ByCommunicator> ranks;
  std::map<std::uint64_t, std::vector<std::size_t>> members;
  for (std::size_t r = 0; r < logs.size(); ++r) {
    ranks.push_back(sorted(*logs[r]));
    for (const auto& [communicator, collectives] : ranks[r]) members[communicator].push_back(r);
    for (const auto& [gpu, overlap] : logs[r]->overlaps())
      out.ranks[r].communication_ns += overlap.communication_ns;
    out.omitted += logs[r]->collectives().size();
  }
  Comparison comparison(clocks, out);
  for (const auto& [communicator, with] : members) {
    std::vector<const std::vector<const Collective*>*> all;
    for (const std::size_t r : with) all.push_back(&ranks[r].at(communicator));
    if (comparison.add(with, all)) out.omitted -= all[0]->size() * all.size();
  }
  return out;
}

}  // namespace rangefinder
