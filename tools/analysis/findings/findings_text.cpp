// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <variant>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/findings.h"

namespace rangefinder {
namespace {

nlohmann::ordered_json json_value(const CellValue& value) {
  return std::visit(
      [](const auto& v) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
          return nullptr;
        } else {
          return v;
        }
      },
      value);
}

/// Wraps `text` at `width` columns (0: one line); each line starts with `indent`.
std::string wrapped(std::string_view text, std::size_t width, const std::string& indent) {
  std::string out, line;
  const auto close = [&] {
    if (!line.empty()) out += indent + line + "\n";
    line.clear();
  };
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    const bool fits = width == 0 || indent.size() + text_width(line) + 1 + text_width(word) <= width;
    if (!fits) close();
    if (!line.empty()) line += ' ';
    line += word;
  }
  close();
  return out;
}

std::string saving_text(const Finding& finding, bool raw) {
  if (!finding.saving_ns) return "";
  return "; potential saving up to " + cell_text(Cell(CellValue(*finding.saving_ns)), Unit::ns, raw);
}

std::string evidence_line(const Finding& finding, bool raw) {
  std::string out;
  for (const Evidence& evidence : finding.evidence) {
    if (!out.empty()) out += ", ";
    out += evidence.text + " " + printable(cell_text(Cell(evidence.value), evidence.unit, raw));
  }
  return out;
}

}  // namespace

std::string_view severity_name(Severity severity) noexcept {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::notable:
      return "notable";
    case Severity::serious:
      return "serious";
  }
  return "info";
}

nlohmann::ordered_json findings_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    nlohmann::ordered_json object{
        {"id", finding.id}, {"severity", severity_name(finding.severity)}, {"title", finding.title}};
    if (!finding.where.empty()) object["where"] = finding.where;
    if (finding.saving_ns) object["prize_ns"] = *finding.saving_ns;
    nlohmann::ordered_json evidence = nlohmann::ordered_json::object();
    for (const Evidence& one : finding.evidence) evidence[one.key] = json_value(one.value);
    object["evidence"] = std::move(evidence);
    object["next_step"] = finding.next_step;
    out.push_back(std::move(object));
  }
  return out;
}

std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style) {
  if (findings.empty()) return "No findings.\n";
  const std::string bold = style.colour ? "\033[1m" : "", plain = style.colour ? "\033[0m" : "";
  std::string out;
  std::size_t number = 0;
  for (const Finding& finding : findings) {
    if (!out.empty()) out += '\n';
    out += bold + std::to_string(++number) + ". " + printable(finding.title) + plain +
           saving_text(finding, style.raw) + "  [" + finding.id + "]\n";
    if (!finding.where.empty()) out += wrapped("Where: " + printable(finding.where), style.width, "   ");
    out += wrapped("Why: " + evidence_line(finding, style.raw) + ".", style.width, "   ");
    out += wrapped("Next: " + finding.next_step + ".", style.width, "   ");
  }
  return out;
}

}  // namespace rangefinder
