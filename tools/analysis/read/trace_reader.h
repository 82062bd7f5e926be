// SPDX-License-Identifier: Apache-2.0
//
// All lines of all segments of a trace, in order, as records.
//
//   segments ─▶ SegmentLines ─▶ LineReader ─▶ ShownPaths ─▶ TraceVisitor::line
//                                    └──────▶ TraceVisitor::broken, for lines that are not in the format
//
// Paths are those that reports show: iterations folded, dotted names as levels (shown_paths.h). A visitor
// that judges, and a TraceFolder with recorded_paths, get them as recorded.
//
// A killed program leaves a half-written last line. It goes to neither function; ReadSummary reports it.
// Other faults of the files are in ReadSummary::damage: a verb shows what is readable, reports the damage and
// ends with exit code 3. Throws Missing for segments of two processes in one folder.
#pragma once

#include <string_view>

#include "schema/read_line.h"
#include "tools/analysis/read/read_ledger.h"
#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

class TraceVisitor {
 public:
  virtual ~TraceVisitor() = default;
  /// Called before the first line of each segment.
  virtual void segment(const SegmentFile&) {}
  virtual void line(const Line& line, const LinePlace& place) = 0;
  virtual void broken(std::string_view error, const LinePlace& place) = 0;
  /// True: the visitor checks lines itself. It also receives lines that end before they start, which are
  /// broken for other visitors, and segments of several processes do not throw.
  [[nodiscard]] virtual bool judges() const { return false; }
};

/// `reader` owns the text of the lines: it must outlive the views that the visitor keeps. Throws Missing.
[[nodiscard]] ReadSummary read_trace(const TraceFolder& trace, LineReader& reader, TraceVisitor& visitor);

}  // namespace rangefinder
