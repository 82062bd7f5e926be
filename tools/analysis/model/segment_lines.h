// SPDX-License-Identifier: Apache-2.0
//
// The lines of one segment, plain or compressed, one at a time.
//
//   trace-00000.ndjson, trace-00001.ndjson.zst ─▶ UnitSource ─▶ 1 MiB of whole lines ─▶ next() ─▶ a line
//
// A killed program leaves a last line without a newline. next() returns it like any other line, and torn()
// is true from then on. A truncated or corrupted compressed file ends early and is torn as well.
// Throws Missing when the file cannot be opened or read, or when a line is longer than 64 MiB.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "schema/record.h"
#include "tools/analysis/model/unit_source.h"

namespace rangefinder {

class SegmentLines {
 public:
  explicit SegmentLines(const std::filesystem::path& file) : file_(file), source_(file, kUnitBytes) {}

  /// The next line without its newline, valid until the next call. False: no more lines.
  [[nodiscard]] bool next(std::string_view& line);
  /// Number of the line that next() returned last; 1: the first of the file.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  [[nodiscard]] bool torn() const noexcept { return torn_; }

 private:
  /// Some readers need the first line only.
  static constexpr std::size_t kUnitBytes = std::size_t{1} << 20;

  std::filesystem::path file_;
  UnitSource source_;
  UnitText unit_;
  std::size_t at_ = 0;  // in unit_: what was returned
  std::uint64_t number_ = 0;
  bool torn_ = false;
};

/// What a segment begins with; absent: not with a header. Throws as SegmentLines.
[[nodiscard]] std::optional<Header> first_header(const std::filesystem::path& segment);

}  // namespace rangefinder
