// SPDX-License-Identifier: Apache-2.0
//
// The tables of the csv export: one file per table, for all traces, by RFC 4180: commas, CRLF, doubled quotes
// inside quotes.
//
// The column `trace` is the number of the trace in traces.csv, from 0. Rows have names instead of ids, so
// each file can be read alone.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tools/export/output_file.h"
#include "tools/export/row_tables.h"

namespace rangefinder {

/// `text` as a field, quoted if necessary.
[[nodiscard]] std::string csv_cell(std::string_view text);

/// One file. Always valid UTF-8 without NUL. A text that a spreadsheet would read as a formula (it begins
/// with = + - @ or a tab) is quoted but not changed, so that the data stay as recorded. A value that was not
/// measured is an empty field.
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

/// The files of one export.
class CsvTables final : public RowSink {
 public:
  CsvTables(const std::filesystem::path& folder, Overwrite overwrite);
  /// Later rows are of trace `number`.
  void begin_trace(std::size_t number) {
    trace_ = number;
    names_.clear();
  }
  void row(RowTable table, std::span<const RowCell> cells) override;
  /// Commits all files and returns their paths.
  [[nodiscard]] std::vector<std::filesystem::path> commit();

 private:
  struct File {
    std::filesystem::path path;
    std::unique_ptr<CsvTable> table;  ///< nullptr: not in this format
    std::vector<std::size_t> cells;   ///< of a row, those that are written
  };
  void add(CsvTable& row, const RowCell& cell);
  /// `text` as a field, cached.
  [[nodiscard]] const std::string& name(std::string_view text);

  std::vector<File> files_;                             ///< by RowTable
  std::unordered_map<const char*, std::string> names_;  ///< fields by address of the text, of this trace
  std::size_t trace_ = 0;
};

}  // namespace rangefinder
