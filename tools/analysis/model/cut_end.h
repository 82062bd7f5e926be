// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether a trace without an `end` line lost more than a killed program leaves unwritten.
//
//   summary.json: final, or more event lines than the segments have ─▶ CutEnd: what is missing
//
// The profiler writes the `end` line before the final summary, and every event line that a summary counts
// before that summary. So both are proof. A summary that was replaced while the segments were read proves
// nothing: the program still runs. Neither does one whose ledger counts lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "schema/record.h"
#include "tools/analysis/model/trace_files.h"

namespace rangefinder {

/// Of the lines of all segments.
struct SeenLines {
  std::uint64_t events = 0, kernels = 0;
  TimeNs last_ns = 0;  ///< of the last heartbeat
};

struct CutEnd {
  std::string text;         ///< "incomplete: …"; "": there is no proof
  std::uint64_t lines = 0;  ///< event lines that are missing
};

class CutEndCheck {
 public:
  /// Call it before the first segment is read.
  explicit CutEndCheck(const TraceFolder& trace);
  /// Call it after the last line, if none of them was an `end` line.
  [[nodiscard]] CutEnd judge(const SeenLines& seen) const;

 private:
  [[nodiscard]] std::optional<std::filesystem::file_time_type> time() const;

  std::filesystem::path file_;  ///< empty: no summary, or a single segment
  std::optional<std::filesystem::file_time_type> written_;
};

}  // namespace rangefinder
