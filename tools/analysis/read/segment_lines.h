// SPDX-License-Identifier: Apache-2.0
//
// The lines of one segment, plain or compressed, one at a time.
//
//   trace-00000.ndjson ───────────────┐
//   trace-00001.ndjson.zst ─▶ unzstd ─┴─▶ 1 MiB of bytes ─▶ next() ─▶ a line
//
// A killed program leaves a last line without a newline. next() returns it like any other line, and torn()
// is true from then on. A truncated or corrupted compressed file ends early and is torn as well.
// Throws Missing when the file cannot be opened or read, or when a line is longer than 64 MiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rangefinder {

class ByteSource;

class SegmentLines {
 public:
  explicit SegmentLines(const std::filesystem::path& file);
  ~SegmentLines();
  SegmentLines(const SegmentLines&) = delete;
  SegmentLines& operator=(const SegmentLines&) = delete;

  /// The next line without its newline, valid until the next call. False: no more lines.
  [[nodiscard]] bool next(std::string_view& line);
  /// Number of the line that next() returned last; 1: the first of the file.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] bool torn() const noexcept { return torn_; }

 private:
  /// Reads more bytes behind those still unread. False: end of file.
  bool refill();

  std::filesystem::path file_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // in buffer_: read from the file, not yet returned
  std::uint64_t number_ = 0;
  bool torn_ = false;
  bool ended_ = false;
};

}  // namespace rangefinder
