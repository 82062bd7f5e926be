// SPDX-License-Identifier: Apache-2.0
//
// Writes one table as a CSV file by RFC 4180: commas, CRLF, doubled quotes inside quotes.
//
//   CsvTable table(folder / "kernels.csv", overwrite);
//   table.text("start_ns").text("kernel").end_row();
//   table.number(1200).text("gemm<int, 4>").end_row();        1200,"gemm<int, 4>"
//
// Always valid UTF-8 without NUL. A text that a spreadsheet would read as a formula (it begins with = + - @
// or a tab) is quoted but not changed, so that the data stay as recorded. A value that was not measured is an
// empty field.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tools/export/output_file.h"

namespace rangefinder {

/// `text` as a field, quoted if necessary.
[[nodiscard]] std::string csv_cell(std::string_view text);

class CsvTable {
 public:
  /// Throws TargetExists, Missing.
  CsvTable(const std::filesystem::path& file, Overwrite overwrite) : file_(file, overwrite) {}

  CsvTable& text(std::string_view value) { return field(csv_cell(value)); }
  /// `value`: a field made by csv_cell().
  CsvTable& field(std::string_view value) {
    separate();
    out() += value;
    return *this;
  }
  template <std::integral T>
  CsvTable& number(T value) {
    separate();
    if constexpr (std::same_as<T, bool>) {
      out() += value ? "true" : "false";
    } else {
      char buffer[24];
      out().append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }
    return *this;
  }
  /// Empty for NaN and infinities.
  CsvTable& real(double value);
  CsvTable& empty() { return field({}); }
  void end_row();

  /// Renames the temporary file to its target.
  void commit() { file_.commit(); }

 private:
  [[nodiscard]] std::string& out() noexcept { return file_.text(); }
  void separate() {
    if (!first_) out() += ',';
    first_ = false;
  }

  OutputFile file_;
  bool first_ = true;
};

}  // namespace rangefinder
