// SPDX-License-Identifier: Apache-2.0
//
// profiler/options/option_table.h as the Markdown table of README.md (tables.py compares).
#include <cstdio>
#include <string>
#include <string_view>

#include "profiler/options/option_table.h"

namespace {

std::string code(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

/// A `|` would end the cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

int main() {
  std::puts("| `run` option | variable | default | what it does |\n|---|---|---|---|");
  for (const rangefinder::OptionRow& row : rangefinder::kOptions) {
    const bool takes_value = *row.flag != '\0' && *row.switch_value == '\0';
    const std::string flag = std::string(row.flag) + (takes_value ? " VALUE" : "");
    std::printf("| %s | `%s` | %s | %s |\n", code(flag).c_str(), row.variable, code(row.fallback).c_str(),
                cell(help_text(row)).c_str());
  }
  return 0;
}
