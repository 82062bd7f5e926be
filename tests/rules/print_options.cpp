// SPDX-License-Identifier: Apache-2.0
//
// profiler/options/options.h as the Markdown table of README.md (tables.py compares).
#include <cstdio>
#include <string>
#include <string_view>

#include "profiler/options/options.h"

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
  for (const rangefinder::OptionSpec& spec : rangefinder::kOptions) {
    const std::string flag =
        spec.is_switch || *spec.flag == '\0' ? spec.flag : std::string(spec.flag) + " VALUE";
    std::printf("| %s | `%s` | %s | %s |\n", code(flag).c_str(), spec.variable, code(spec.fallback).c_str(),
                cell(spec.help).c_str());
  }
  return 0;
}
