// SPDX-License-Identifier: Apache-2.0
//
// A SegmentLog with an open folder, and lines for it as TraceWriter writes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "profiler/output/segment_log.h"
#include "tests/unit/output/written_trace.h"

namespace rangefinder::test {

inline constexpr SegmentLimits kRoomy{std::uint64_t{256} << 20, 0, false};

/// Writes a group of one line, with a "header" at the start of a segment.
inline void put(SegmentLog& writer, const std::string& text) {
  writer.commit();
  if (writer.begin_segment_if_needed()) {
    writer.text() += "header " + std::to_string(writer.segment()) + "\n";
    writer.line_done();
  }
  writer.text() += text + "\n";
  writer.line_done();
}

struct OpenSegments {
  explicit OpenSegments(const SegmentLimits& limits = kRoomy, const std::filesystem::path& below = {})
      : folder(below.empty() ? temporary.path() : temporary.path() / below), writer(limits, loss) {
    REQUIRE(writer.open_folder(folder, false));
  }
  void put(const std::string& text) { test::put(writer, text); }
  [[nodiscard]] std::filesystem::path path(std::uint32_t segment) const {
    return folder / segment_name(segment);
  }
  [[nodiscard]] std::vector<std::string> lines(std::uint32_t segment) const {
    return lines_of(path(segment));
  }
  [[nodiscard]] std::vector<std::string> files() const { return files_in(folder); }

  TemporaryFolder temporary;
  const std::filesystem::path folder;
  LossLedger loss;
  SegmentLog writer;
};

}  // namespace rangefinder::test
