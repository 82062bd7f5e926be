// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analysis/diff/diff_answer.h"
#include "tools/analysis/tables/rows_json.h"
#include "tools/page/packed_text.h"
#include "tools/page/page_tables.h"
#include "tools/page/page_template.h"
#include "tools/page/page_timeline.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Placeholders in the template. Tables and timeline are separate: the page shows the tables before it unpacks
// the timeline.
constexpr std::string_view kTablesMark = "@rangefinder-tables@";
constexpr std::string_view kTimelineMark = "@rangefinder-timeline@";

struct PageData {
  OrderedJson tables, timeline;
};

PageData page_data(const TraceFolder& files, const PageLimits& limits) {
  PageCounts counts(find_iterations(files, files.iteration_range), limits);
  const TraceTotals trace = load_trace(files, nullptr, &counts);
  const RowValues values = load_row_values(trace);
  PageIndices indices(trace);
  PageData out;
  out.tables = page_tables(trace, values, counts, limits, indices);
  Timeline timeline(trace, counts, limits);
  read_timeline(timeline, trace);
  out.timeline = page_timeline(timeline, counts, indices);
  return out;
}

/// The result of `diff`. Rows without a change are included unless that makes too many.
OrderedJson difference(const TraceFolder& a, const TraceFolder& b) {
  constexpr std::size_t kMaxRows = 20'000;
  const DiffAnswer answer(IterationSeries::load(a, a.iteration_range, {}),
                          IterationSeries::load(b, b.iteration_range, {}), {});
  std::vector<Table> tables = answer.tables(true);
  const auto is_long = [](const Table& table) { return table.rows.size() > kMaxRows; };
  if (std::any_of(tables.begin(), tables.end(), is_long)) tables = answer.tables(false);
  for (Table& table : tables) keep_first(table, kMaxRows);
  return answer.json(tables);
}

std::string compact(const OrderedJson& value) {
  return value.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

/// Returns the text before `mark`, and removes both from `rest`.
std::string_view until(std::string_view& rest, std::string_view mark) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) throw std::logic_error("the page's template has no " + std::string(mark));
  const std::string_view out = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return out;
}

}  // namespace

void write_page(const std::vector<TraceFolder>& traces, std::ostream& out) {
  const PageLimits limits = PageLimits{}.shared_by(traces.size());
  OrderedJson tables{{"schema", "rangefinder.page"}, {"version", "1.0"}, {"traces", OrderedJson::array()}};
  OrderedJson timelines{{"traces", OrderedJson::array()}};
  for (const TraceFolder& files : traces) {
    PageData data = page_data(files, limits);
    tables["traces"].push_back(std::move(data.tables));
    timelines["traces"].push_back(std::move(data.timeline));
  }
  tables["named_metrics"] = named_metrics_json(tables["traces"]);
  tables["metric_topics"] = metric_topics_json();
  // A trace that is only a summary has no iterations to compare.
  const auto has_lines = [](const TraceFolder& files) { return !files.segments.empty(); };
  if (traces.size() == 2 && std::all_of(traces.begin(), traces.end(), has_lines)) {
    tables["diff"] = difference(traces[0], traces[1]);
  }
  std::string_view rest = page_template();
  out << until(rest, kTablesMark) << packed_text(compact(tables));
  out << until(rest, kTimelineMark) << packed_text(compact(timelines)) << rest;
}

}  // namespace rangefinder
