// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/communication/rank_tables.h"

#include <algorithm>

#include "profiler/base/number_text.h"
#include "tools/analysis/tables/cells.h"

namespace rangefinder {
namespace {

std::uint64_t exposed_ns(const CommunicationLog& log) {
  std::uint64_t sum = 0;
  for (const auto& [gpu, overlap] : log.overlaps()) sum += overlap.exposed_ns;
  return sum;
}

std::string clock_text(const RankClock& clock, std::size_t rank) {
  if (rank == 0) return "the others are placed by it";
  return clock.same_host ? "shared with the first" : "another host's";
}

/// The rank that made the others wait longest; empty: no rank waited.
std::string straggler_text(const std::vector<RankLog>& ranks, const RankWaits& waits) {
  const auto slowest =
      std::max_element(waits.ranks.begin(), waits.ranks.end(),
                       [](const RankWait& a, const RankWait& b) { return a.made_wait_ns < b.made_wait_ns; });
  if (slowest == waits.ranks.end() || slowest->made_wait_ns == 0) return {};
  return "Straggler: " + ranks[static_cast<std::size_t>(slowest - waits.ranks.begin())].name +
         " came last to " + std::to_string(slowest->last_in) + " of " + std::to_string(waits.collectives) +
         " collectives; the others waited " + duration_text(slowest->made_wait_ns) + " for it.\n";
}

}  // namespace

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
                   {"last_in", "came last", Unit::count},
                   {"made_wait_ns", "made others wait", Unit::ns}};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const RankWait& wait = waits.ranks[i];
    if (wait.communication_ns == 0) continue;
    const bool compared = waits.collectives != 0;
    table.add({text_cell(ranks[i].name), number_cell(wait.communication_ns),
               number_cell(exposed_ns(*ranks[i].log)), known_cell(compared, wait.waited_ns),
               known_cell(compared, wait.last_in), known_cell(compared, wait.made_wait_ns)});
  }
  if (table.rows.empty()) {
    table.title.clear();
    return table;
  }
  drop_empty_columns(table);
  table.remarks = straggler_text(ranks, waits);
  if (waits.omitted != 0) {
    table.remarks += counted_text(waits.omitted, "kernel", "kernels") +
                     " of communication could not be compared: they send or receive, or differ between "
                     "ranks.\n";
  }
  return table;
}

}  // namespace rangefinder
