// SPDX-License-Identifier: Apache-2.0
//
// Reads lines of JSON back into records. Mirrors write_line.h, for the tools.
//
//   trace-00000.ndjson ─▶ LineReader::read ─▶ Line (one alternative a kind)
//
// Strict about the guarantees of the format: a missing key or a wrong type is an error
// with the name of the key. Lenient about additions of a newer minor version: unknown
// keys are ignored, an unknown kind is UnknownLine.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "schema/kinds.h"

namespace rangefinder {

/// A line of a kind that this version does not know.
struct UnknownLine {
  std::string kind;
};

#define X(Record, ...) , Record
using Line = std::variant<UnknownLine RANGEFINDER_KINDS(X)>;
#undef X

/// Not thread-safe: use one for each thread. Views inside a Line live as long as the reader.
class LineReader {
 public:
  LineReader();
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Reads one line (with or without its newline). False: see `error()`.
  [[nodiscard]] bool read(std::string_view text, Line& line);
  [[nodiscard]] const std::string& error() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The `t` of an alternative of Line, as in "kernel".
[[nodiscard]] std::string_view line_kind(const Line& line) noexcept;

}  // namespace rangefinder
