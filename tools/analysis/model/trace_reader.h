// SPDX-License-Identifier: Apache-2.0
//
// All lines of all segments of a trace, in order, as records.
//
//   segments ─▶ SegmentLines ─▶ LineReader ─▶ ShownPaths ─▶ see(line, place)
//                                    └──────▶ broken(error, place), for lines that are not in the format
//
// Paths are those that reports show: iterations folded, dotted names as levels (shown_paths.h). A caller that
// judges, and a TraceFolder with recorded_paths, get them as recorded.
//
// A killed program leaves a half-written last line. It goes to neither function; ReadSummary reports it.
// Other faults of the files are in ReadSummary::damage: a verb shows what is readable, reports the damage and
// ends with exit code 3. Throws Missing for segments of two processes in one folder.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "schema/read_line.h"
#include "tools/analysis/model/read_ledger.h"
#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

/// Who judges whether a line is wrong.
enum class Judge : std::uint8_t {
  reader,
  /// see() also receives lines that end before they start, which are broken for other callers, and segments
  /// of several processes do not throw.
  caller
};

using SeeLine = std::function<void(const Line& line, const LinePlace& place)>;
using SeeBroken = std::function<void(const std::string& error, const LinePlace& place)>;

/// `reader` owns the text of the lines: it must outlive the views that see() keeps. Throws Missing.
[[nodiscard]] ReadSummary read_lines(const TraceFolder& trace, LineReader& reader, const SeeLine& see,
                                     const SeeBroken& broken = {}, Judge judge = Judge::reader);

}  // namespace rangefinder
