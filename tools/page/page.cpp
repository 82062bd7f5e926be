// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analysis/diff/diff_answer.h"
#include "tools/analysis/diff/iteration_series.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/page/packed_text.h"
#include "tools/page/page_columns.h"
#include "tools/page/page_data.h"
#include "tools/page/page_tables.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Placeholders in the template. Tables and timeline are separate: the page shows the tables before it unpacks
// the timeline.
constexpr std::string_view kTablesMark = "@rangefinder-tables@";
constexpr std::string_view kTimelineMark = "@rangefinder-timeline@";

/// The result of `diff`, with columns and texts, worst first. Rows without a change are included unless that
/// makes too many.
OrderedJson difference(std::vector<IterationSeries>& sides) {
  constexpr std::size_t kMaxRows = 20'000;
  DiffAnswer answer(std::move(sides[0]), std::move(sides[1]), {});
  worst_first(answer.diff);
  std::vector<Table> tables = diff_tables(answer.diff, true);
  const auto is_long = [](const Table& table) { return table.rows.size() > kMaxRows; };
  if (std::any_of(tables.begin(), tables.end(), is_long)) tables = diff_tables(answer.diff, false);
  for (Table& table : tables) keep_first(table, kMaxRows);
  OrderedJson out = answer.json(tables);
  add_columns(out, tables);
  out["sides"] = answer.sides_text();
  out["explanation"] = answer.explanation();
  for (const Table& table : tables) {
    for (OrderedJson& row : out[table.name]) {
      const std::string_view tone = verdict_tone(row["verdict"].get<std::string>());
      if (!tone.empty()) row["tone"] = tone;
    }
  }
  return out;
}

/// Returns the text before `mark`, and removes both from `rest`.
std::string_view until(std::string_view& rest, std::string_view mark) {
  const std::size_t at = rest.find(mark);
  if (at == std::string_view::npos) throw std::logic_error("the page's template has no " + std::string(mark));
  const std::string_view out = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return out;
}

/// The page's data, trace by trace.
class PageText {
 public:
  explicit PageText(std::size_t traces) : limits_(PageLimits{}.shared_by(traces)) {}

  void add(WholeTrace& trace) {
    PageData data = page_data(trace, limits_);
    tables_["traces"].push_back(std::move(data.tables));
    timelines_["traces"].push_back(std::move(data.timeline));
  }
  void add_difference(OrderedJson difference) { difference_ = std::move(difference); }

  void write(std::ostream& out) {
    tables_["named_metrics"] = named_metrics_json(tables_["traces"]);
    tables_["metric_topics"] = metric_topics_json();
    tables_["columns"] = page_columns_json(tables_["named_metrics"]);
    if (!difference_.is_null()) tables_["diff"] = std::move(difference_);
    std::string_view rest = page_template();
    out << until(rest, kTablesMark) << packed_text(compact_json(tables_));
    out << until(rest, kTimelineMark) << packed_text(compact_json(timelines_)) << rest;
  }

 private:
  PageLimits limits_;
  OrderedJson tables_{{"schema", "rangefinder.page"}, {"version", "1.0"}, {"traces", OrderedJson::array()}};
  OrderedJson timelines_{{"traces", OrderedJson::array()}};
  OrderedJson difference_;
};

}  // namespace

PageData page_data(WholeTrace& trace, const PageLimits& limits) {
  const TraceTotals& totals = trace.totals();
  PageCounts counts(trace.iterations(), limits);
  trace.each([&counts](const SelectedRows& rows) { counts.add(rows); });
  counts.finish([&trace](const auto& see) { trace.each(see); });
  PageIndices indices(totals);
  PageData out;
  PageOverview overview(counts);
  const std::optional<std::size_t> from = counts.summary.counted_from();
  const auto see = [&overview](const TraceTotals& part, const SampledTrace& all) {
    overview.measure(part, all);
  };
  const TracePart* const counted = from ? trace.measured_from(*from, see) : nullptr;
  const SectionInput input{totals, trace.values(), SectionView{}, counted};
  const RunSummary run = counts.summary.result(input);
  out.tables = page_tables(input, run, counts, limits, indices);
  overview.begin(input);
  Timeline timeline(totals, counts, limits);
  trace.each([&](const SelectedRows& rows) {
    timeline.add(rows);
    overview.add(rows);
  });
  timeline.finish();
  out.tables["overview"] = overview.json(input, run, indices);
  out.timeline = page_timeline(timeline, totals, counts, indices, limits);
  return out;
}

void write_page(const std::vector<TraceFolder>& traces, std::ostream& out, const ReadLimits& limits) {
  PageText page(traces.size());
  const bool compares = traces.size() == 2;
  std::vector<IterationSeries> sides;
  for (const TraceFolder& files : traces) {
    WholeTrace trace(files, compares ? kPageColumns | IterationSeries::kColumns : kPageColumns, limits);
    page.add(trace);
    if (compares) sides.push_back(IterationSeries::of(trace.rows(), trace.iterations(), {}));
  }
  if (compares) page.add_difference(difference(sides));
  page.write(out);
}

void write_page(WholeTrace& trace, std::ostream& out) {
  PageText page(1);
  page.add(trace);
  page.write(out);
}

}  // namespace rangefinder
