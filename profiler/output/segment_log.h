// SPDX-License-Identifier: Apache-2.0
//
// Writes whole lines to disk: trace-00000.ndjson, trace-00001.ndjson, …
//
//   text() ─▶ buffer ── 256 KiB, or flush() ──▶ one write(2) of whole lines ─▶ segment
//                                               full segment ─▶ the next file; this one goes on if that
//                                               cannot be created
//
// Data passed to write(2) survives a kill, so a trace lacks at most what is in the buffer.
// Lines of a failed write are counted as lost, and the next write tries again. If a segment's file
// was removed, the next segment begins. --max-size bounds all segments together: "first" stops
// writing, "last" removes the oldest segments.
//
// Drain thread only. Never throws but bad_alloc.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "profiler/output/output_segment.h"
#include "schema/loss.h"

namespace rangefinder {

struct SegmentLimits {
  std::uint64_t segment_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< 0: no bound
  bool keep_last = false;
};

class SegmentLog {
 public:
  SegmentLog(const SegmentLimits& limits, LossLedger& loss);

  /// Creates the folder and its parents, and opens the first segment in it. False: `error()`.
  /// `overwrite`: removes a trace that is already there; without it that is an error.
  [[nodiscard]] bool open_folder(const std::string& folder, bool overwrite);

  /// Append the next line here, newline included; then call line_done().
  [[nodiscard]] std::string& text() noexcept { return buffer_; }
  void line_done() noexcept { ++buffered_lines_; }
  /// Call between two groups of lines that belong together (a record and the names it needs). Writes
  /// once 256 KiB are buffered.
  void commit();

  /// Call before each group of lines. True once for every segment, before its first line: the caller must
  /// write the header again, and every name that its lines need.
  [[nodiscard]] bool begin_segment_if_needed();
  [[nodiscard]] std::uint32_t segment() const noexcept { return segment_; }

  /// Writes the buffer. The next line begins a new segment, if one can be created.
  void rotate();
  /// Lifts the bound on all segments, for the lines that end a trace.
  void lift_limit();

  /// Writes the buffer. False: the write failed.
  bool flush();
  /// For a trace whose first lines could not be written: removes its empty file and its empty folder.
  void remove_empty();

  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// open_folder() failed because another trace is there.
  [[nodiscard]] bool occupied() const noexcept { return occupied_; }

 private:
  [[nodiscard]] bool open_segment(std::uint32_t number);
  [[nodiscard]] bool ensure_segment();
  void begin_next();
  void end_segment();
  [[nodiscard]] bool has_lines() const noexcept;
  void lose_buffer(Loss cause);
  void make_room();
  [[nodiscard]] bool over_limit() const noexcept;

  const SegmentLimits limits_;
  LossLedger& loss_;
  std::string folder_, error_;
  bool occupied_ = false;
  std::string buffer_;
  std::uint64_t buffered_lines_ = 0;
  std::deque<OutputSegment> segments_;  // oldest first; only the last one may be open
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint32_t segment_ = 0;
  bool begins_ = true;
  bool ends_ = false;     // the open segment is full: the next line begins another
  bool stopped_ = false;  // keep first: the bound is reached
  bool limit_lifted_ = false;
};

}  // namespace rangefinder
