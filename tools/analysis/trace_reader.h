// SPDX-License-Identifier: Apache-2.0
//
// All lines of all segments of a trace, in order, as records.
//
//   segments ─▶ SegmentLines ─▶ LineReader ─▶ TraceVisitor::line
//                                    └──────▶ TraceVisitor::broken, for what is no line of the format
//
// A last line that a killed program left half written is neither: ReadSummary names it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "schema/read_line.h"
#include "tools/analysis/trace_files.h"

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
};

struct ReadSummary {
  std::uint64_t lines = 0;   ///< that were read as records
  std::uint64_t broken = 0;  ///< that were not
  bool torn = false;         ///< a segment ends in the middle of a line
  std::filesystem::path torn_file;
  std::uint64_t torn_line = 0;
};

/// `reader` must outlive what the visitor keeps of the lines' views. Throws Missing.
[[nodiscard]] ReadSummary read_trace(const TraceFolder& trace, LineReader& reader, TraceVisitor& visitor);

}  // namespace rangefinder
