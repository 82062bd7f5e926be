// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/model/segment_lines.h"

#include <algorithm>
#include <string>
#include <variant>

#include "schema/read_line.h"
#include "tools/analysis/model/missing.h"

namespace rangefinder {

bool SegmentLines::next(std::string_view& line) {
  while (at_ == unit_.size) {
    torn_ = unit_.torn;
    if (unit_.last) return false;
    source_.next(unit_);
    at_ = 0;
    if (!unit_.too_long) continue;
    throw Missing(file_.string() + ":" + std::to_string(number_ + 1) +
                  ": the line is longer than 64 MiB, so this is not a trace file");
  }
  const std::string_view text = unit_.text().substr(at_);
  line = text.substr(0, text.find('\n'));
  torn_ = line.size() == text.size();  // it has no newline
  at_ += std::min(line.size() + 1, text.size());
  ++number_;
  return true;
}

std::optional<Header> first_header(const std::filesystem::path& segment) {
  SegmentLines lines(segment);
  LineReader reader;
  std::string_view text;
  Line line;
  if (!lines.next(text) || !reader.read(text, line)) return {};
  const auto* const header = std::get_if<Header>(&line);
  return header == nullptr ? std::nullopt : std::optional(*header);
}

}  // namespace rangefinder
