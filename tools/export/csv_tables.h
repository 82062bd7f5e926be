// SPDX-License-Identifier: Apache-2.0
//
// The tables of the csv export: one file per table, for all traces.
//
// The column `trace` is the number of the trace in traces.csv, from 0. Rows have names instead of ids, so
// each file can be read alone.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/export/csv_table.h"
#include "tools/export/row_tables.h"

namespace rangefinder {

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
