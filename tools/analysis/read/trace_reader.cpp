// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/read/trace_reader.h"

#include <string>
#include <utility>
#include <variant>

#include "tools/analysis/read/line_times.h"
#include "tools/analysis/read/path_depths.h"
#include "tools/analysis/read/read_progress.h"
#include "tools/analysis/read/segment_lines.h"
#include "tools/analysis/read/shown_paths.h"

namespace rangefinder {
namespace {

class Reading {
 public:
  Reading(const TraceFolder& trace, LineReader& reader, const SeeLine& see, const SeeBroken& broken,
          Judge judge)
      : trace_(trace),
        reader_(reader),
        see_(see),
        broken_(broken),
        judges_(judge == Judge::caller),
        ledger_(trace, judges_),
        shown_(trace.iteration_range, judges_ || trace.recorded_paths) {}

  ReadSummary read() {
    read_progress.begin(bytes_of(trace_));
    for (const SegmentFile& segment : trace_.segments) read(segment);
    return ledger_.finish();
  }

 private:
  void read(const SegmentFile& segment) {
    SegmentLines lines(segment.path);
    LinePlace place{&segment.path, 0};
    std::string_view text;
    ledger_.segment(segment);
    while (lines.next(text)) {
      place.number = lines.number();
      if (!reader_.read(text, line_)) {
        if (!lines.torn()) report_broken(reader_.error(), place);
      } else if (const auto* const path = std::get_if<PathRecord>(&line_); path && !depths_.take(*path)) {
        report_broken(PathDepths::refusal(*path), place);
      } else if (const LineTimes times = times_of(line_); !judges_ && times.reversed()) {
        report_broken(times.refusal(line_kind(line_)), place);
      } else {
        ledger_.line(line_, place);
        shown_.each_shown(line_, [&](const Line& line) { see_(line, place); });
      }
    }
    if (lines.torn()) ledger_.torn(segment, lines.number());
  }

  void report_broken(const std::string& error, const LinePlace& place) {
    ledger_.broken(error, place);
    if (broken_) broken_(error, place);
  }

  const TraceFolder& trace_;
  LineReader& reader_;
  const SeeLine& see_;
  const SeeBroken& broken_;
  bool judges_;
  ReadLedger ledger_;
  PathDepths depths_;
  ShownPaths shown_;
  Line line_;
};

}  // namespace

ReadSummary read_lines(const TraceFolder& trace, LineReader& reader, const SeeLine& see,
                       const SeeBroken& broken, Judge judge) {
  return Reading(trace, reader, see, broken, judge).read();
}

}  // namespace rangefinder
