// SPDX-License-Identifier: Apache-2.0
//
// profiler/options/option_table.h as the Markdown tables of docs/reference/options.md (tables.py compares).
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
  std::string_view group;
  for (const rangefinder::OptionRow& row : rangefinder::kOptions) {
    if (group != row.group) {
      std::printf("%s## %s\n\n| `run` option | variable | default | what it does |\n|---|---|---|---|\n",
                  group.empty() ? "" : "\n", row.group);
      group = row.group;
    }
    const bool takes_value = *row.flag != '\0' && *row.switch_value == '\0';
    const std::string flag = std::string(row.flag) + (takes_value ? " VALUE" : "");
    const std::string with_run = *row.run_fallback == '\0' ? "" : "; with `run` " + code(row.run_fallback);
    std::printf("| %s | `%s` | %s%s | %s |\n", code(flag).c_str(), row.variable, code(row.fallback).c_str(),
                with_run.c_str(), cell(help_text(row)).c_str());
  }
  return 0;
}
