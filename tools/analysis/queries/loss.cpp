// SPDX-License-Identifier: Apache-2.0
//
// `--section loss`: events that are missing from the trace, by cause; launches made and launches recorded;
// lines that could not be read. Covers the whole trace and ignores the selection.
#include "schema/loss.h"
#include "schema/key_names.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/queries/section.h"

namespace rangefinder {
namespace {

Table causes(const TraceTotals& trace) {
  Table table;
  table.name = "loss_causes";  // "loss" is an object of every report
  table.empty = trace.end ? "Nothing was lost." : "Nothing was lost until the last heartbeat.";
  table.columns = {{"cause", "lost"}, {"count", "count", Unit::count}, {"meaning", "what one count means"}};
  for (std::size_t i = 0; i < trace.loss.size(); ++i) {
    if (trace.loss[i] == 0) continue;
    table.add({kLossCauses[i].name, number_cell(trace.loss[i]), kLossCauses[i].meaning});
  }
  sort_rows(table, "count");
  return table;
}

Table balance(const TraceTotals& trace) {
  Table table;
  table.name = "launch_balance";
  table.title = "Launches made and recorded";
  table.sortable = false;
  table.empty = "Unknown: the trace has no end line.";
  table.columns = {{"kind", "launches"},
                   {"launched", "launched", Unit::count},
                   {"recorded", "recorded", Unit::count},
                   {"exact", "exact", Unit::count},
                   {"lost", "lost", Unit::count},
                   {"lost_share", "lost", Unit::share}};
  if (!trace.end) return table;
  for (std::size_t i = 0; i < trace.end->balance.size(); ++i) {
    const LaunchBalance& kind = trace.end->balance[i];
    table.add({text_cell(std::string(kWorkKindNames[i])), number_cell(kind.launched),
               number_cell(kind.recorded), number_cell(kind.exact), number_cell(kind.lost),
               ratio_cell(kind.lost, kind.launched)});
  }
  table.remarks = "launched = recorded + exact + lost; a graph launch counts as one.\n";
  return table;
}

Table reading(const TraceTotals& trace) {
  Table table;
  table.name = "reading";
  table.title = "Lines of the trace";
  table.sortable = false;
  table.columns = {{"what", "lines"}, {"count", "count", Unit::count}, {"where", "where"}};
  table.add({"read", number_cell(trace.read.lines)});
  table.add({"not readable", number_cell(trace.read.broken),
             trace.first_broken.empty() ? Cell() : text_cell(trace.first_broken)});
  const std::string torn = trace.read.torn_file.filename().string();
  table.add({"torn, at the end of a file", number_cell(std::uint64_t{trace.read.torn ? 1U : 0U}),
             trace.read.torn ? text_cell(torn + ":" + std::to_string(trace.read.torn_line)) : Cell()});
  table.add({"end line", number_cell(std::uint64_t{trace.end ? 1U : 0U}),
             trace.end                       ? text_cell("recording ended by " + trace.end->reason)
             : trace.read.incomplete.empty() ? text_cell(unfinished_text(trace.read))
                                             : text_cell(trace.read.incomplete)});
  return table;
}

class LossSection final : public Section {
 public:
  std::vector<Table> tables(const SectionInput& input) override {
    return {causes(input.trace), balance(input.trace), reading(input.trace)};
  }
};

}  // namespace

const SectionKind kLossSection{"loss", "events that are missing from the trace, by cause",
                               make_section<LossSection>};

}  // namespace rangefinder
