// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a segment in units of whole lines.
//
//   segment, plain or .zst ─▶ next() ─▶ 2 MiB, up to the last line end in them ─▶ next() ─▶ …
//
// One thread at a time. Throws Missing as byte_source.h does.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "schema/scan_line.h"
#include "tools/analysis/read/byte_source.h"

namespace rangefinder {

/// Text of a unit. Its memory is used again.
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

  explicit UnitSource(const std::filesystem::path& file, std::size_t unit_bytes = kUnitBytes)
      : source_(open_source(file)), unit_bytes_(unit_bytes) {}
  /// Do not call it after the last unit.
  void next(UnitText& unit);

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t unit_bytes_;
  std::vector<char> rest_;  // behind the last line end that was read
};

}  // namespace rangefinder
