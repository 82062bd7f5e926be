// SPDX-License-Identifier: Apache-2.0
//
// One segment of a trace: the file trace-00000.ndjson while it is written.
//
//   create() ─▶ PATH.tmp ── first write() ──▶ PATH ── write() … ──▶ close()
//
// It has its name from its first lines on, so no reader sees a segment without a header. A failed write is
// truncated to the last whole line. If the application closed our descriptor, the file is reopened by name.
//
// Drain thread only. Never throws but bad_alloc.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/guest/owned_file.h"

namespace rangefinder {

class OutputSegment {
 public:
  explicit OutputSegment(const std::string& path) : path_(path), unwritten_(path + ".tmp") {}
  /// Closes it. A file without lines is removed.
  ~OutputSegment();
  OutputSegment(const OutputSegment&) = delete;
  OutputSegment& operator=(const OutputSegment&) = delete;

  /// Creates the file. 0, or the errno: EEXIST if the segment or its .tmp exists already.
  [[nodiscard]] int create() noexcept;
  /// Call before write(): reopens the file if the application closed our descriptor. False: `error`.
  [[nodiscard]] bool ensure_open(std::string& error);
  /// Appends whole lines. False: `error`, and none of them is in the file.
  [[nodiscard]] bool write(const std::string& text, std::uint64_t lines, std::string& error);
  /// Leaves the file as it is, also one without lines.
  void close() noexcept { file_.close(); }

  [[nodiscard]] bool is_open() const noexcept { return file_.file >= 0; }
  /// The open file has no name any more.
  [[nodiscard]] bool was_removed() const noexcept { return file_.link_count() == 0; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t lines() const noexcept { return lines_; }

 private:
  [[nodiscard]] bool reopen(std::string& error);

  const std::string path_;
  const std::string unwritten_;  // its name until it has lines
  OwnedFile file_;
  std::uint64_t bytes_ = 0, lines_ = 0;
};

}  // namespace rangefinder
