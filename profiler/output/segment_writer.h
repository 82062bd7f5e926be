// SPDX-License-Identifier: Apache-2.0
//
// Whole lines to disk: trace-00000.ndjson, trace-00001.ndjson, …
//
//   line() ─▶ buffer ── 256 KiB, or flush() ──▶ one write(2) of whole lines ─▶ segment
//                                               full segment ─▶ the next file, if it can be made; else on in
//                                               this one
//
// The kernel keeps what was written when we are killed, so a trace lacks at most what
// is in the buffer. A write that fails is taken back to the last whole line; what it
// held is counted, and the next write tries again. A segment is called
// trace-00000.ndjson.tmp until its first lines are in it: none is ever seen without a
// header. Where the application has closed our descriptor, the segment is opened again by its name;
// where somebody has removed it, the next one begins.
// --max-size bounds all segments together: "first" stops writing, "last" removes the oldest segments.
//
// Drain thread only. Never throws but bad_alloc.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "profiler/guest/owned_file.h"
#include "schema/loss.h"

namespace rangefinder {

struct SegmentLimits {
  std::uint64_t segment_bytes = 0;
  std::uint64_t max_bytes = 0;  ///< 0: no bound
  bool keep_last = false;
};

class SegmentWriter {
 public:
  SegmentWriter(const SegmentLimits& limits, LossLedger& loss) noexcept;
  ~SegmentWriter();
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  /// Makes the folder (and those above it) and remembers it. False: `error()`.
  /// `overwrite`: a trace that is there already is removed; else it is an error.
  [[nodiscard]] bool open_folder(const std::string& folder, bool overwrite);

  /// Where the next line is appended, newline included; then call line_done().
  [[nodiscard]] std::string& text() noexcept { return buffer_; }
  void line_done() noexcept { ++buffered_lines_; }
  /// Between two groups of lines that belong together (a record and the names it needs): writes
  /// if there is enough to write. Only here may a new segment begin.
  void commit();

  /// Before each line. True once for every segment, before its first line: the caller writes the header, and
  /// every name that its lines need, again.
  [[nodiscard]] bool begins_segment();
  [[nodiscard]] std::uint32_t segment() const noexcept { return segment_; }

  /// Writes what is buffered and begins the next segment, if it can be made, with the next line.
  void rotate();
  /// From now on the bound on all segments does not count: for the lines that end a trace.
  void lift_limit();

  /// Writes what is buffered. False when the disk did not take it.
  bool flush();
  /// Where not even the first lines could be written: no folder is left that holds nothing.
  void remove_empty();

  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// open_folder() failed because another trace is there.
  [[nodiscard]] bool occupied() const noexcept { return occupied_; }

 private:
  struct Segment {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint64_t lines = 0;
  };
  [[nodiscard]] bool open_segment(std::uint32_t number);
  void begin_next();
  [[nodiscard]] bool name_segment();
  [[nodiscard]] bool has_segment();
  [[nodiscard]] bool has_lines() const noexcept;
  [[nodiscard]] bool reopen_segment();
  void drop_unwritten() noexcept;
  void end_segment();
  [[nodiscard]] bool write_all(const std::string& text);
  void lose_buffer(Loss cause);
  void make_room();
  [[nodiscard]] bool over_limit() const noexcept;

  const SegmentLimits limits_;
  LossLedger& loss_;
  std::string folder_, error_;
  std::string unwritten_;  // the open segment's file while it has no line
  bool occupied_ = false;
  std::string buffer_;
  std::uint64_t buffered_lines_ = 0;
  std::deque<Segment> segments_;  // oldest first; the last one is open
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t bytes_written_ = 0;
  std::uint32_t segment_ = 0;
  OwnedFile file_;
  bool begins_ = true;
  bool ends_ = false;     // the open segment is full: the next line begins another
  bool stopped_ = false;  // keep first, and the bound is reached
  bool limit_lifted_ = false;
};

}  // namespace rangefinder
