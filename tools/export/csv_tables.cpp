// SPDX-License-Identifier: Apache-2.0
#include "tools/export/csv_tables.h"

#include <cmath>

#include "schema/key_names.h"
#include "tools/analysis/table/table_render.h"
#include "tools/export/export_format.h"
#include "tools/export/trace_outline.h"
#include "tools/export/value_text.h"

namespace rangefinder {

std::string csv_cell(std::string_view text) {
  return csv_field(plain_text(text));
}

CsvTable& CsvTable::real(double value) {
  if (!std::isfinite(value)) return empty();
  separate();
  char buffer[48];
  out().append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  return *this;
}

void CsvTable::end_row() {
  out() += "\r\n";
  first_ = true;
  file_.drain();
}

CsvTables::CsvTables(const std::filesystem::path& folder, Overwrite overwrite) {
  for (const RowTableShape& shape : row_tables()) {
    File& file = files_.emplace_back();
    if (shape.csv.empty()) continue;
    file.path = folder / (std::string(shape.csv) + ".csv");
    file.table = std::make_unique<CsvTable>(file.path, overwrite);
    file.table->text("trace");
    for (std::size_t i = 0; i < shape.columns.size(); ++i) {
      if (shape.columns[i].csv.empty()) continue;
      file.table->text(shape.columns[i].csv);
      file.cells.push_back(i);
    }
    file.table->end_row();
  }
}

const std::string& CsvTables::name(std::string_view text) {
  const auto [it, is_new] = names_.try_emplace(text.data());
  if (is_new) it->second = csv_cell(text);
  return it->second;
}

void CsvTables::add(CsvTable& row, const RowCell& cell) {
  std::visit(
      [&]<typename T>(const T& value) {
        if constexpr (std::same_as<T, std::monostate>) {
          row.empty();
        } else if constexpr (std::same_as<T, std::string_view>) {
          row.text(value);
        } else if constexpr (std::same_as<T, double>) {
          row.real(value);
        } else if constexpr (std::integral<T>) {
          row.number(value);
        } else if constexpr (std::same_as<T, NameCell>) {
          row.field(name(value.text));
        } else if constexpr (std::same_as<T, ThreadCell>) {
          row.number(value.id);
        } else if constexpr (std::same_as<T, HandleCell>) {
          row.field(handle_text(value.value));
        } else if constexpr (std::same_as<T, ColorCell>) {
          row.field(color_text(value.argb));
        } else if constexpr (std::same_as<T, PayloadCell>) {
          row.field(payload_text(*value.extras));
        } else {
          row.field(to_text(value));
        }
      },
      cell);
}

void CsvTables::row(RowTable table, std::span<const RowCell> cells) {
  File& file = files_[static_cast<std::size_t>(table)];
  if (!file.table) return;
  file.table->number(trace_);
  for (const std::size_t at : file.cells) add(*file.table, at < cells.size() ? cells[at] : RowCell());
  file.table->end_row();
}

std::vector<std::filesystem::path> CsvTables::commit() {
  std::vector<std::filesystem::path> out;
  for (const File& file : files_) {
    if (!file.table) continue;
    file.table->commit();
    out.push_back(file.path);
  }
  return out;
}

ExportResult export_csv(const ExportRequest& request) {
  ExportResult result;
  OutputFolder folder(request.out);
  CsvTables tables(folder.path(), request.overwrite);
  for (std::size_t number = 0; number < request.traces.size(); ++number) {
    const TraceOutline trace = read_outline(request.traces[number]);
    note_trace(trace, result);
    tables.begin_trace(number);
    write_rows(trace, tables);
  }
  result.files = tables.commit();
  folder.commit();
  return result;
}

}  // namespace rangefinder
