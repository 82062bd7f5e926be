// SPDX-License-Identifier: Apache-2.0
#include "tools/export/csv_table.h"

#include <algorithm>
#include <cmath>

#include "tools/export/plain_text.h"

namespace rangefinder {

std::string csv_cell(std::string_view text) {
  std::string out = plain_text(text);
  constexpr std::string_view kFormulaStarts = "=+-@\t ";
  const bool is_formula = !out.empty() && kFormulaStarts.find(out.front()) != std::string_view::npos;
  if (!is_formula && out.find_first_of("\",\r\n") == std::string::npos) return out;
  std::string quoted = "\"";
  for (const char c : out) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

CsvTable::CsvTable(const std::filesystem::path& file, Overwrite overwrite,
                   std::span<const std::string_view> columns)
    : file_(file, overwrite) {
  for (const std::string_view column : columns) text(column);
  end_row();
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

}  // namespace rangefinder
