// SPDX-License-Identifier: Apache-2.0
#include "tools/page/page_data.h"

#include "tools/page/page_tables.h"
#include "tools/page/page_timeline.h"

namespace rangefinder {

PageData page_data(WholeTrace& trace, const PageLimits& limits) {
  const TraceTotals& totals = trace.totals();
  PageCounts counts(totals, trace.iterations(), limits);
  trace.each([&counts](const SelectedRows& rows) { counts.add(rows); });
  counts.rules.finish([&trace](const auto& see) { trace.each(see); });
  PageIndices indices(totals);
  PageData out;
  out.tables = page_tables(totals, trace.values(), counts, limits, indices);
  Timeline timeline(totals, counts, limits);
  trace.each([&timeline](const SelectedRows& rows) { timeline.add(rows); });
  timeline.finish();
  out.timeline = page_timeline(timeline, totals, counts, indices);
  return out;
}

}  // namespace rangefinder
