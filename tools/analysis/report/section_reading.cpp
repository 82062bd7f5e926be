// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/report/section_reading.h"

#include <utility>

#include "tools/analysis/model/iterations.h"
#include "tools/analysis/model/selected_rows.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/sampling/sampled_bytes.h"

namespace rangefinder {

SectionReading::SectionReading(const TraceFolder& files, const SectionKind& kind, Section& section,
                               const SectionReadOptions& options) {
  const bool samples = kind.samples || options.json;
  const bool selects_iterations = !options.selected.iterations.open();
  const bool wants_iterations = kind.iterations || options.iterations || options.total || selects_iterations;
  // Iterations are complete after the files were read. Without a selection of them, so are the totals.
  const bool totals_first = wants_iterations && !selects_iterations;
  TraceOptions reading{kind.columns | options.more | Selection::columns(options.selected),
                       samples ? SampledTrace::kColumns : Columns(),
                       {},
                       samples ? Keep::if_sampled : Keep::no,
                       options.limits};
  if (options.total) reading.columns |= IterationLog::kColumns;
  if (wants_iterations) reading.keep = Keep::yes;
  if (wants_iterations) reading.while_reading = kIterationColumns;
  (totals_first ? reading.while_reading : reading.columns) |= TotalsFold::kColumns;
  if (options.counted) reading.columns |= TotalsFold::kColumns | kWorkOfIteration | Column::launch_times;
  Trace rows(files, reading);
  selection = Selection(options.selected, Iterations());
  TotalsFold totals(trace, &selection);
  if (totals_first) rows.on_reading([&totals](const Chunk& chunk) { totals.add(chunk); });
  Iterations iterations;
  if (wants_iterations) {
    iterations = find_iterations(rows, files.iteration_range);
    section.start(iterations);
    if (selects_iterations) selection = Selection(options.selected, std::move(iterations));
  }
  bool counts = !totals_first;  // the first time
  section.read([&](const auto& see) {
    rows.each_chunk([&](const Chunk& chunk) {
      if (counts) totals.add(chunk);
      see({chunk, rows.names(), selection, section.reads_all_ranges()});
    });
    counts = false;
  });
  totals.finish();
  static_cast<TraceNames&>(trace) = rows.names();
  // In monitor mode only some windows have GPU work.
  const bool parts = options.counted && trace.header.monitor_period_ns == 0;
  const std::optional<std::size_t> from = parts ? section.counted_from() : std::nullopt;
  if (from) {
    counted = part_from(*from, std::move(iterations), rows, trace, values);
  } else {
    values.emplace(samples ? load_row_values(trace, rows, selection) : RowValues(trace));
  }
}

}  // namespace rangefinder
