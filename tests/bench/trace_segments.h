// SPDX-License-Identifier: Apache-2.0
//
// The files of a made trace: lines in blocks, segments, and the counts that the end line states.
//
//   put(record), event(kind, record) ─▶ text of a few MiB ─▶ trace-00000.ndjson, trace-00001.ndjson, …
//
// The caller opens a segment, puts its names first, and closes it where the profiler would: between events.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "schema/write_line.h"

namespace rangefinder::bench {

class TraceSegments {
 public:
  /// Creates the folder.
  explicit TraceSegments(std::string folder);

  /// Returns the number of the new segment.
  std::uint32_t open();
  /// Throws std::runtime_error if the file cannot be written.
  void close();
  [[nodiscard]] bool is_full() const noexcept;

  /// A line that the end line does not count: names, heartbeats.
  template <typename Record>
  void put(const Record& record) {
    write_line(text_, record);
    ++lines_;
    if (text_.size() >= kWriteBytes) write_text();
  }
  template <typename Record>
  void event(const char* kind, const Record& record) {
    put(record);
    count(kind);
  }
  /// A heartbeat.
  void flush(TimeNs at_ns) { put(FlushRecord{at_ns, events_, {}}); }
  /// The last line: adds the counts of all lines so far to `end`.
  void finish(EndRecord end);

  [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }

 private:
  static constexpr std::size_t kWriteBytes = std::size_t{4} << 20;
  void count(const char* kind);
  void write_text();

  std::string folder_;
  std::string text_;
  std::ofstream file_;
  EndRecord counts_;  // its records only
  std::uint32_t segment_ = 0;
  std::uint64_t segment_bytes_ = 0, lines_ = 0, events_ = 0, bytes_ = 0;
};

}  // namespace rangefinder::bench
