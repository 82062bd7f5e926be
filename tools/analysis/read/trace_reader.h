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

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "schema/read_line.h"
#include "tools/analysis/read/trace_files.h"

namespace rangefinder {

struct LinePlace {
  const std::filesystem::path* file = nullptr;
  std::uint64_t number = 0;  ///< 1: the first of the file
};

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

struct ReadSummary {
  std::uint64_t lines = 0;   ///< read as records
  std::uint64_t given = 0;   ///< to the visitor: a path line may become several lines, or none
  std::uint64_t broken = 0;  ///< not readable as records
  bool torn = false;         ///< a segment ends in the middle of a line
  bool torn_inside = false;  ///< a torn segment is not the last one
  std::filesystem::path torn_file;
  std::uint64_t torn_line = 0;
  /// "incomplete: …", with what the segments lack although it was written: their numbers or summary.json
  /// prove it. "": at most what a killed program does not write.
  std::string incomplete;
  std::uint64_t missing_lines = 0;  ///< event lines of these, if their number is known
  /// One sentence: what is missing or unreadable, and where. "" if the trace is complete, or lacks only what
  /// a killed program does not write: the end of its last line and its `end` line.
  std::string damage;
};

/// `reader` owns the text of the lines: it must outlive the views that the visitor keeps. Throws Missing.
[[nodiscard]] ReadSummary read_trace(const TraceFolder& trace, LineReader& reader, TraceVisitor& visitor);

/// Checks that a trace begins with its header, as every verb that shows a trace requires.
class TraceBeginning {
 public:
  /// Call it for every line. Throws Missing if the first is no header.
  void line(const Line& line, const LinePlace& place) {
    if (!has_header_) first(line, place);
  }
  /// Throws Missing if no header came before.
  void broken(std::string_view error, const LinePlace& place) const;
  /// Call it after the last line. Throws Missing if no complete line was read.
  static void end(const TraceFolder& trace, const ReadSummary& read);

 private:
  void first(const Line& line, const LinePlace& place);

  bool has_header_ = false;
};

/// True, with both times, for a line that ends before it starts; false also for a line without times.
[[nodiscard]] bool ends_before_start(const Line& line, TimeNs& start_ns, TimeNs& end_ns);

}  // namespace rangefinder
