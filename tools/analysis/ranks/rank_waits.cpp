// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/ranks/rank_waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/cells.h"

namespace rangefinder {
namespace {

struct Span {
  TimeNs start_ns, end_ns;
  [[nodiscard]] std::uint64_t length_ns() const { return duration_ns(start_ns, end_ns); }
};
/// Of one rank; by communicator, in order of start.
using ByCommunicator = std::map<std::uint64_t, std::vector<const Collective*>>;

bool is_collective(const Collective& one) {
  return one.operation.find("Send") == std::string::npos && one.operation.find("Recv") == std::string::npos;
}

/// True for collectives that cannot end on any rank before all ranks have begun, and groups of them.
bool needs_all(const Collective& one) {
  static constexpr std::array<std::string_view, 4> kOperations{"AllReduce", "AllGather", "ReduceScatter",
                                                               "AlltoAll"};
  std::string_view rest = one.operation;
  while (true) {
    const std::size_t plus = rest.find('+');
    if (std::find(kOperations.begin(), kOperations.end(), rest.substr(0, plus)) == kOperations.end())
      return false;
    if (plus == std::string_view::npos) return true;
    rest.remove_prefix(plus + 1);
  }
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

  /// Adds one communicator: its `ranks`, and their collectives. Returns how many were compared.
  std::size_t add(const std::vector<std::size_t>& ranks,
                  const std::vector<const std::vector<const Collective*>*>& all) {
    const auto same = [&all](const auto* other) {
      return std::equal(all[0]->begin(), all[0]->end(), other->begin(), other->end(),
                        [](const auto* a, const auto* b) { return a->operation == b->operation; });
    };
    if (ranks.size() < 2 || !std::all_of(all.begin(), all.end(), same)) return 0;
    std::size_t compared = 0;
    for (std::size_t i = 0; i < all[0]->size(); ++i) {
      if (!needs_all(*(*all[0])[i])) continue;
      std::vector<Span> spans;
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        const std::int64_t offset = clocks_[ranks[r]].offset_ns;
        spans.push_back({(*all[r])[i]->start_ns + offset, (*all[r])[i]->end_ns + offset});
      }
      compare(ranks, spans);
      ++compared;
    }
    return compared;
  }

 private:
  void compare(const std::vector<std::size_t>& ranks, const std::vector<Span>& spans) {
    const auto last = std::min_element(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
      return a.length_ns() < b.length_ns();
    });
    const TimeNs begin_ns = std::max_element(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
                              return a.start_ns < b.start_ns;
                            })->start_ns;
    RankWait& slowest = out_.ranks[ranks[static_cast<std::size_t>(last - spans.begin())]];
    const bool any_waited = std::any_of(spans.begin(), spans.end(), [&last](const Span& span) {
      return span.length_ns() != last->length_ns();
    });
    slowest.last_in += any_waited ? 1 : 0;
    ++out_.collectives;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::uint64_t waited_ns = spans[r].length_ns() - last->length_ns();
      out_.ranks[ranks[r]].waited_ns += waited_ns;
      out_.ranks[ranks[r]].transfer_ns += last->length_ns();
      slowest.made_wait_ns += waited_ns;
      if (spans[r].end_ns < begin_ns) {
        out_.clocks_off_ns =
            std::max(out_.clocks_off_ns, static_cast<std::uint64_t>(begin_ns - spans[r].end_ns));
      }
    }
  }

  const std::vector<RankClock>& clocks_;
  RankWaits& out_;
};

std::uint64_t exposed_ns(const CommunicationLog& log) {
  std::uint64_t sum = 0;
  for (const auto& [gpu, overlap] : log.overlaps()) sum += overlap.exposed_ns;
  return sum;
}

std::string clock_text(const RankClock& clock, std::size_t rank) {
  if (rank == 0) return "the others are placed by it";
  return clock.same_host ? "shared with the first" : "another host's";
}

/// The rank for which the others waited most of the time; empty: no collective was compared.
std::string straggler_text(const std::vector<RankLog>& ranks, const RankWaits& waits) {
  constexpr double kStragglerShare = 0.5;
  std::uint64_t all_ns = 0;
  for (const RankWait& rank : waits.ranks) all_ns += rank.made_wait_ns;
  if (waits.collectives == 0) return {};
  if (all_ns == 0) return "No straggler: no rank waited for another in a collective.\n";
  const auto slowest =
      std::max_element(waits.ranks.begin(), waits.ranks.end(),
                       [](const RankWait& a, const RankWait& b) { return a.made_wait_ns < b.made_wait_ns; });
  if (static_cast<double>(slowest->made_wait_ns) <= kStragglerShare * static_cast<double>(all_ns)) {
    return "No straggler: the ranks waited " + duration_text(all_ns) +
           " in all, for no rank more than half of it.\n";
  }
  return "Straggler: " + ranks[static_cast<std::size_t>(slowest - waits.ranks.begin())].name +
         " came last to " + std::to_string(slowest->last_in) + " of " + std::to_string(waits.collectives) +
         " collectives; the others waited " + duration_text(slowest->made_wait_ns) + " for it.\n";
}

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
    out.omitted -= comparison.add(with, all) * all.size();
  }
  return out;
}

Table clock_rows(const std::vector<RankLog>& ranks, const std::vector<RankClock>& clocks,
                 const RankWaits& waits) {
  Table table;
  table.name = "clocks";
  table.title = "Clocks";
  table.sortable = false;
  table.columns = {{"rank", "rank"},
                   {"host", "host"},
                   {"offset_ns", "begins", Unit::ns},
                   {"clock", "clock"},
                   {"agree_within_ns", "known within", Unit::ns}};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const std::int64_t offset_ns = clocks[i].offset_ns;
    const std::string amount = duration_text(static_cast<std::uint64_t>(std::abs(offset_ns)));
    table.add({text_cell(ranks[i].name), text_cell(ranks[i].header->host),
               Cell(CellValue(offset_ns), (offset_ns < 0 ? "-" : "+") + amount),
               text_cell(clock_text(clocks[i], i)),
               i == 0 || !clocks[i].agree_within_ns ? Cell() : number_cell(*clocks[i].agree_within_ns)});
  }
  drop_empty_columns(table);
  const bool other_hosts =
      std::any_of(clocks.begin(), clocks.end(), [](const RankClock& clock) { return !clock.same_host; });
  if (other_hosts)
    table.remarks =
        "Other hosts are placed by their CLOCK_REALTIME, which is as exact as their time service.\n";
  if (waits.clocks_off_ns != 0) {
    table.remarks +=
        "Collectives ended on one rank before they began on another: the clocks are off by at least " +
        duration_text(waits.clocks_off_ns) + ".\n";
  }
  return table;
}

Table wait_rows(const std::vector<RankLog>& ranks, const RankWaits& waits) {
  Table table;
  table.name = "rank_waits";
  table.title = "Communication of the ranks";
  table.columns = {{"rank", "rank"},
                   {"communication_ns", "communicating", Unit::ns},
                   {"exposed_ns", "exposed", Unit::ns},
                   {"waited_ns", "waited for others", Unit::ns},
                   {"transfer_ns", "transfer", Unit::ns},
                   {"last_in", "came last", Unit::count},
                   {"made_wait_ns", "made others wait", Unit::ns}};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankWait& wait = waits.ranks[i];
    if (wait.communication_ns == 0) continue;
    const bool compared = waits.collectives != 0;
    table.add({text_cell(ranks[i].name), number_cell(wait.communication_ns),
               number_cell(exposed_ns(*ranks[i].log)), cell_if(compared, wait.waited_ns),
               cell_if(compared, wait.transfer_ns), cell_if(compared, wait.last_in),
               cell_if(compared, wait.made_wait_ns)});
  }
  if (table.rows.empty()) {
    table.title.clear();
    return table;
  }
  drop_empty_columns(table);
  table.remarks = straggler_text(ranks, waits);
  if (waits.omitted != 0) {
    table.remarks +=
        counted_text(waits.omitted, "kernel", "kernels") +
        " of communication could not be compared: they send, receive or have a root, or differ between "
        "ranks.\n";
  }
  return table;
}

}  // namespace rangefinder
