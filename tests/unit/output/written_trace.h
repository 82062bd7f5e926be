// SPDX-License-Identifier: Apache-2.0
//
// The trace in a folder, read with the reader of the tools.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schema/read_line.h"
#include "tests/catch.h"
#include "tests/unit/analysis/model/trace_on_disk.h"

namespace rangefinder::test {

/// Names of the files in `folder`, in order.
inline std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// The lines of `file` without their newlines. The test fails if the last line has none.
inline std::vector<std::string> lines_of(const std::filesystem::path& file) {
  const std::string text = content(file);
  std::vector<std::string> lines;
  std::size_t at = 0;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
  }
  INFO(file.string() << " ends in a torn line");
  CHECK(at == text.size());
  return lines;
}

inline std::string segment_name(std::uint32_t segment) {
  const std::string number = std::to_string(segment);
  return "trace-" + std::string(5 - number.size(), '0') + number + ".ndjson";
}

/// All lines of a trace as records. Views in them are valid while this object exists.
class WrittenTrace {
 public:
  explicit WrittenTrace(const std::filesystem::path& folder) {
    for (const std::string& name : files_in(folder)) {
      if (name.starts_with("trace-")) read(folder / name);
    }
  }
  [[nodiscard]] const std::vector<Line>& lines() const { return lines_; }

  /// `t` of every line, joined by spaces.
  [[nodiscard]] std::string kinds() const {
    std::string out;
    for (const Line& line : lines_) {
      if (!out.empty()) out += ' ';
      out += line_kind(line);
    }
    return out;
  }

  template <typename Record>
  [[nodiscard]] std::vector<Record> all() const {
    std::vector<Record> out;
    for (const Line& line : lines_) {
      if (const auto* const record = std::get_if<Record>(&line)) out.push_back(*record);
    }
    return out;
  }
  /// The only record of its kind.
  template <typename Record>
  [[nodiscard]] Record only() const {
    const std::vector<Record> found = all<Record>();
    REQUIRE(found.size() == 1);
    return found[0];
  }

 private:
  void read(const std::filesystem::path& file) {
    for (const std::string& text : lines_of(file)) {
      Line line;
      INFO(text);
      REQUIRE(reader_.read(text, line));
      lines_.push_back(std::move(line));
    }
  }
  LineReader reader_;
  std::vector<Line> lines_;
};

}  // namespace rangefinder::test
