// SPDX-License-Identifier: Apache-2.0
#include "tools/export/csv_table.h"

#include <cmath>

#include "tools/analysis/table/table_render.h"
#include "tools/export/plain_text.h"

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

}  // namespace rangefinder
