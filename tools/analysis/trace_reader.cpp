// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/trace_reader.h"

#include <string>

#include "tools/analysis/segment_lines.h"

namespace rangefinder {
namespace {

void read_segment(const SegmentFile& segment, LineReader& reader, TraceVisitor& visitor,
                  ReadSummary& summary) {
  SegmentLines lines(segment.path);
  LinePlace place{&segment.path, 0};
  std::string_view text;
  Line line;
  visitor.segment(segment);
  while (lines.next(text)) {
    place.number = lines.number();
    if (reader.read(text, line)) {
      ++summary.lines;
      visitor.line(line, place);
    } else if (!lines.torn()) {
      ++summary.broken;
      visitor.broken(reader.error(), place);
    }
  }
  if (lines.torn()) {
    summary.torn = true;
    summary.torn_file = segment.path;
    summary.torn_line = lines.number();
  }
}

}  // namespace

ReadSummary read_trace(const TraceFolder& trace, LineReader& reader, TraceVisitor& visitor) {
  ReadSummary summary;
  for (const SegmentFile& segment : trace.segments) read_segment(segment, reader, visitor, summary);
  return summary;
}

}  // namespace rangefinder
