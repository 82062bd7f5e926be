// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <type_traits>
#include <variant>

#include "profiler/base/number_text.h"
#include "tools/analysis/findings/findings.h"
#include "tools/analysis/queries/rows_json.h"

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

/// "12.3 %", or "".
std::string share_cell(const Finding& finding) {
  return finding.share ? percent_text(*finding.share) : "";
}

std::string saving_cell(const Finding& finding, bool raw) {
  if (!finding.saving_ns) return "";
  return cell_text(Cell(CellValue(finding.saving_each_ns.value_or(*finding.saving_ns))), Unit::ns, raw);
}

const char* colour_of(Severity severity) {
  if (severity == Severity::serious) return "\033[1;31m";
  return severity == Severity::notable ? "\033[33m" : "\033[2m";
}

/// One line for each finding: severity, share, saving, effect, module.
std::string overview(const std::vector<Finding>& findings, const TextStyle& style) {
  constexpr std::size_t kNumbers = 31, kMaxEffect = 56, kMinModule = 20;  // columns
  std::size_t effect_width = 7;
  for (const Finding& finding : findings) effect_width = std::max(effect_width, text_width(finding.effect));
  const std::size_t room =
      style.width > kNumbers + kMinModule ? style.width - kNumbers - kMinModule : kMaxEffect;
  if (style.width != 0) effect_width = std::min({effect_width, kMaxEffect, room});
  const auto padded = [effect_width](std::string text) {
    text.append(effect_width - std::min(effect_width, text_width(text)), ' ');
    return text;
  };
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%-8s  %8s  %9s  ", "severity", "share", "saving");
  std::string out = numbers + padded("finding") + "  module\n";
  for (const Finding& finding : findings) {
    std::snprintf(numbers, sizeof numbers, "%-8s  %8s  %9s  ",
                  std::string(severity_name(finding.severity)).c_str(), share_cell(finding).c_str(),
                  saving_cell(finding, style.raw).c_str());
    const std::string begin = style.colour ? colour_of(finding.severity) : "",
                      end = style.colour ? "\033[0m" : "";
    const std::size_t left = style.width == 0
                                 ? finding.where.size()
                                 : style.width - std::min(style.width, kNumbers + effect_width + 2);
    std::string line = begin + numbers + end + padded(cut_back(printable(finding.effect), effect_width)) +
                       "  " + cut_front(printable(finding.where), std::max(left, kMinModule));
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

/// 0 to 1.
double part_of_saving(const Finding& finding, const FindingPart& part) {
  std::uint64_t all = 0;
  for (const FindingPart& one : finding.modules) all += one.ns;
  return static_cast<double>(part.ns) / static_cast<double>(std::max<std::uint64_t>(1, all));
}

/// What a rule is called, and how sure it is.
std::string rule_text(const Finding& finding) {
  return "[" + finding.id + (finding.experimental ? ", experimental: no recorded run has shown it" : "") +
         "]";
}

std::string also_text(const Finding& finding) {
  for (const Evidence& one : finding.evidence) {
    if (one.key == "also") return " The same cause shows as " + std::get<std::string>(one.value) + ".";
  }
  return "";
}

/// "In 73 modules: a/b 36 %, …": their parts of the saving; empty if it is about one module.
std::string modules_text(const Finding& finding) {
  constexpr std::size_t kShown = 5;
  if (finding.modules.empty()) return "";
  std::string out = "In " + count_text(finding.modules.size()) + " modules: ";
  for (std::size_t i = 0; i < std::min(kShown, finding.modules.size()); ++i) {
    const FindingPart& part = finding.modules[i];
    out += (i == 0 ? "`" : ", `") + (part.where.empty() ? "(outside of any range)" : part.where) + "`" +
           part.source.in_brackets() + " " + percent_text(part_of_saving(finding, part));
  }
  return out + (finding.modules.size() > kShown ? ", …" : ".");
}

}  // namespace

std::string_view severity_name(Severity severity) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"info", "notable", "serious"};
  return kNames[static_cast<std::size_t>(severity)];
}

nlohmann::ordered_json findings_json(const std::vector<Finding>& findings) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    nlohmann::ordered_json object{
        {"id", finding.id}, {"severity", severity_name(finding.severity)}, {"title", finding.title}};
    if (!finding.where.empty()) object["where"] = finding.where;
    add_source(object, finding.source);
    for (const FindingPart& part : finding.modules) {
      object["modules"].push_back({{"where", part.where}, {"share", part_of_saving(finding, part)}});
      add_source(object["modules"].back(), part.source);
    }
    if (!finding.kernel.empty()) object["kernel"] = finding.kernel;
    if (finding.function) object["function"] = function_json(*finding.function);
    if (finding.saving_ns) object["prize_ns"] = *finding.saving_ns;
    if (finding.saving_each_ns) object["saving_per_iteration_ns"] = *finding.saving_each_ns;
    if (finding.share) object["share"] = *finding.share;
    object["experimental"] = finding.experimental;
    if (finding.outside) object["outside_of_iterations"] = true;
    if (!finding.why.empty()) object["why"] = finding.why;
    nlohmann::ordered_json evidence = nlohmann::ordered_json::object();
    for (const Evidence& one : finding.evidence) evidence[one.key] = json_value(one.value);
    object["evidence"] = std::move(evidence);
    object["next_step"] = finding.next_step;
    if (!finding.code.empty()) object["code"] = finding.code;
    out.push_back(std::move(object));
  }
  return out;
}

std::string typed_command(std::string code, const std::string& folder) {
  constexpr std::string_view kReport = "rangefinder report DIR";
  const std::size_t at = code.find(kReport);
  if (at != std::string::npos) code.replace(at + kReport.size() - 3, 3, folder);
  return code;
}

std::string findings_text(const std::vector<Finding>& findings, const TextStyle& style,
                          const std::string& folder) {
  if (findings.empty()) return "No findings.\n";
  const std::string bold = style.colour ? "\033[1m" : "", plain = style.colour ? "\033[0m" : "";
  std::string out = overview(findings, style);
  std::size_t number = 0;
  for (const Finding& finding : findings) {
    const std::string title = std::to_string(++number) + ". " + printable(finding.title);
    out += "\n" + bold + wrapped_text(title, style.width, "   ").substr(3) + plain;
    out +=
        wrapped_text(printable(typed_command(finding.why, folder) + also_text(finding)), style.width, "   ");
    if (!finding.modules.empty()) out += wrapped_text(printable(modules_text(finding)), style.width, "   ");
    out += wrapped_text("Next: " + finding.next_step + ".", style.width, "   ");
    if (!finding.code.empty()) out += "      " + typed_command(finding.code, folder) + "\n";
    out += "   " + rule_text(finding) + "\n";
  }
  return out;
}

std::string cannot_tell_text(const std::vector<CannotTell>& rules, const TextStyle& style) {
  std::map<std::string, std::string> by_need;
  for (const CannotTell& one : rules) {
    std::string& ids = by_need[one.needs];
    ids += (ids.empty() ? "" : ", ") + one.id;
  }
  std::string out;
  for (const auto& [needs, ids] : by_need)
    out += wrapped_text("Not checked: " + ids + ". Needs " + needs + ".", style.width);
  return out;
}

nlohmann::ordered_json cannot_tell_json(const std::vector<CannotTell>& rules) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const CannotTell& one : rules) out.push_back({{"id", one.id}, {"needs", one.needs}});
  return out;
}

}  // namespace rangefinder
