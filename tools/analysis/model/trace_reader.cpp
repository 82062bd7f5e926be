// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/trace_reader.h"

#include <string>
#include <variant>

#include "tools/analysis/model/line_parts.h"
#include "tools/analysis/model/path_names.h"
#include "tools/analysis/model/read_progress.h"
#include "tools/analysis/model/segment_lines.h"
#include "tools/analysis/model/shown_paths.h"

namespace rangefinder {

ReadSummary read_lines(const TraceFolder& trace, LineReader& reader, const SeeLine& see,
                       const SeeBroken& broken, Judge judge) {
  const bool judges = judge == Judge::caller;
  ReadLedger ledger(trace, judges);
  PathDepths depths;
  ShownPaths shown(trace.iteration_range, judges || trace.recorded_paths);
  Line line;
  LinePlace place;
  const auto report_broken = [&](const std::string& error) {
    ledger.broken(error, place);
    if (broken) broken(error, place);
  };
  read_progress.begin(bytes_of(trace));
  for (const SegmentFile& segment : trace.segments) {
    SegmentLines lines(segment.path);
    ledger.segment(segment);
    std::uint64_t unreadable = 0;  // lines in a row
    for (std::string_view text; lines.next(text);) {
      place = {&segment.path, lines.number()};
      const bool readable = reader.read(text, line);
      unreadable = readable ? 0 : unreadable + 1;
      if (!readable) {
        if (lines.torn()) continue;
        report_broken(reader.error());
        if (unreadable < kMaxUnreadableRun) continue;
        ledger.stop(place);
        return ledger.finish();
      }
      if (const auto* const path = std::get_if<PathRecord>(&line); path && !depths.accept(*path)) {
        report_broken(PathDepths::refusal(*path));
      } else if (const LineTimes times = times_of(line); !judges && times.reversed()) {
        report_broken(times.refusal(line_kind(line)));
      } else {
        ledger.line(line, place);
        shown.each_shown(line, [&](const Line& one) { see(one, place); });
      }
    }
    if (lines.torn()) ledger.torn(segment, lines.number());
  }
  return ledger.finish();
}

}  // namespace rangefinder
