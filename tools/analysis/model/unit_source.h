// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a segment in units of whole lines.
//
//   segment, plain or .zst ─▶ next() ─▶ 2 MiB, up to the last line end in them ─▶ next() ─▶ …
//
// One thread at a time. Throws Missing when the file cannot be opened or read.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "schema/scan_line.h"

namespace rangefinder {

class ByteSource;

/// The writer's longest line, a line of samples, has about 100 KB. Without a limit a file of another kind
/// that has no newline would be read into memory as a whole.
inline constexpr std::size_t kMaxLineBytes = std::size_t{64} << 20;

/// Text of a unit. The next unit uses its memory again.
struct UnitText {
  /// Bytes that may be read behind the text; they are 0.
  static constexpr std::size_t kPadding = 2 * kScanPadding;

  std::unique_ptr<char[]> memory;
  std::size_t room = 0;  ///< of `memory`, without padding
  std::size_t size = 0;
  bool last = false;      ///< of its segment
  bool torn = false;      ///< the segment is cut; if `size` does not end a line, within it
  bool too_long = false;  ///< the next line is longer than kMaxLineBytes: the text is its beginning

  [[nodiscard]] std::string_view text() const noexcept { return {memory.get(), size}; }
};

class UnitSource {
 public:
  static constexpr std::size_t kUnitBytes = std::size_t{2} << 20;

  /// A file whose name ends in .zst is compressed.
  explicit UnitSource(const std::filesystem::path& file, std::size_t unit_bytes = kUnitBytes);
  ~UnitSource();
  UnitSource(const UnitSource&) = delete;
  UnitSource& operator=(const UnitSource&) = delete;
  /// Do not call it after the last unit.
  void next(UnitText& unit);

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t unit_bytes_;
  std::vector<char> begun_line_;  // behind the last line end that was read
};

}  // namespace rangefinder
