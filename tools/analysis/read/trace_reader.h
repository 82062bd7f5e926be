// SPDX-License-Identifier: Apache-2.0
//
// All lines of all segments of a trace, in order, as records.
//
//   segments ─▶ SegmentLines ─▶ LineReader ─▶ TraceVisitor::line
//                                    └──────▶ TraceVisitor::broken, for what is no line of the format
//
// A last line that a killed program left half written is neither: ReadSummary names it. What else is wrong
// with the files as a whole stands in ReadSummary::damage: a verb that shows what could be read says so and
// ends with exit code 3. Segments of two processes are not read as one: that is Missing.
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
  std::uint64_t number = 0;  ///< 1: first of the file
};

class TraceVisitor {
 public:
  virtual ~TraceVisitor() = default;
  /// Before the first line of each segment.
  virtual void segment(const SegmentFile&) {}
  virtual void line(const Line& line, const LinePlace& place) = 0;
  virtual void broken(std::string_view error, const LinePlace& place) = 0;
  /// True: it judges lines itself. It gets those that end before they start, which are broken for others,
  /// and segments of several processes are not thrown for.
  [[nodiscard]] virtual bool judges() const { return false; }
};

struct ReadSummary {
  std::uint64_t lines = 0;   ///< that were read as records
  std::uint64_t broken = 0;  ///< that were not
  bool torn = false;         ///< a segment ends in the middle of a line
  bool torn_inside = false;  ///< and it is not the last one
  std::filesystem::path torn_file;
  std::uint64_t torn_line = 0;
  /// What is missing or cannot be read, with its place: one sentence. "" if all is there but for a last
  /// line that is torn and an end that a killed program never wrote.
  std::string damage;
};

/// `reader` must outlive what the visitor keeps of the lines' views. Throws Missing.
[[nodiscard]] ReadSummary read_trace(const TraceFolder& trace, LineReader& reader, TraceVisitor& visitor);

/// Whether a trace begins as it must for a verb that shows what it holds: with its header.
class TraceBeginning {
 public:
  /// Of every line. Throws Missing where the first is no header.
  void line(const Line& line, const LinePlace& place) {
    if (!has_header_) first(line, place);
  }
  /// Throws Missing where no header came before.
  void broken(std::string_view error, const LinePlace& place) const;
  /// After the last line. Throws Missing where there was no whole one.
  static void end(const TraceFolder& trace, const ReadSummary& read);

 private:
  void first(const Line& line, const LinePlace& place);

  bool has_header_ = false;
};

/// The two times of a line that ends before it starts; false: it does not, or has none.
[[nodiscard]] bool ends_before_start(const Line& line, TimeNs& start_ns, TimeNs& end_ns);

}  // namespace rangefinder
