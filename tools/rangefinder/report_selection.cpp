// SPDX-License-Identifier: Apache-2.0
#include "tools/rangefinder/report_selection.h"

#include <algorithm>
#include <iostream>
#include <utility>
#include <variant>
#include <vector>

#include "profiler/base/name_pattern.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/model/no_match.h"
#include "tools/analysis/model/shown_paths.h"
#include "tools/analysis/model/trace_reader.h"
#include "tools/analysis/queries/kernel_labels.h"
#include "tools/analysis/queries/module_table.h"

namespace rangefinder {
namespace {

bool matches_kernel(const TraceTotals& trace, const std::string& pattern) {
  const NamePattern regex(pattern);
  return std::any_of(trace.kernel_names.begin(), trace.kernel_names.end(),
                     [&regex](const auto& name) { return regex.is_in(name.second.demangled); });
}

/// The name that a user would type: without namespaces, template arguments and parameters.
std::string plain_name(const std::string& demangled) {
  std::string name = short_kernel_name(demangled);
  name.erase(std::min(name.find('<'), name.size()));
  const std::size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string no_kernel_text(const char* option, const TraceTotals& trace, const std::string& pattern) {
  const std::string what = std::string(option) + " " + printable(pattern);
  if (trace.kernel_names.empty()) return what + ": the trace has no kernel";
  std::vector<std::string> known;
  for (const auto& [id, name] : trace.kernel_names) known.push_back(plain_name(name.demangled));
  return what + ": no kernel of the trace matches" + nearest_text(std::move(known), pattern);
}

bool has_path(const TraceTotals& trace, const std::string& pattern) {
  return std::any_of(trace.paths.begin(), trace.paths.end(), [&](const auto& path) {
    return matches_path_itself(pattern, trace.path_text(path.first));
  });
}

std::string no_iterations_text(const Iterations& iterations, const HalfOpen<std::uint64_t>& wanted) {
  const std::string what = "--iterations " + span_text(wanted);
  const std::size_t count = iterations.instances.size();
  if (count == 0) return what + ": the trace has no iterations; name their range with --iteration-range";
  return what + ": the trace has " + counted_text(count, "iteration", "iterations") +
         (iterations.path.empty() ? "" : " of " + printable(iterations.path)) +
         ", 0:" + std::to_string(count);
}

/// Several options that match something each, and nothing together.
std::string not_together_text(const SelectionOptions& wanted, const TraceTotals& trace) {
  std::string options;
  std::size_t count = 0;
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    options += (count++ == 0 ? "" : ", ") + std::string(option) + " " + printable(value);
  };
  add("--range", wanted.range);
  add("--kernel", wanted.kernel);
  add("--iterations", wanted.iterations.open() ? "" : span_text(wanted.iterations));
  add("--window", wanted.window.open() ? "" : span_text(wanted.window));
  const std::vector<PathTotals> rows = trace.rows();
  // Ranges have no kernel's name: with --kernel, work decides.
  const auto is_shown = [&wanted](const PathTotals& row) {
    return has_work(row) || (wanted.kernel.empty() && row.calls != 0);
  };
  if (count < 2 || std::any_of(rows.begin(), rows.end(), is_shown)) return {};
  return options + ": each matches something, but nothing matches all of them";
}

/// Reads all lines.
std::optional<SampleWindow> seen_by(Selection& selection, const TraceFolder& files) {
  LineReader reader;
  static_cast<void>(read_lines(files, reader, [&selection](const Line& line, const LinePlace&) {
    selection.learn(line);
    std::visit([&selection](auto record) { static_cast<void>(selection.select(record)); }, line);
  }));
  return selection.seen();
}

std::string window_text(const Selection& selection, const TraceFolder& files) {
  const SelectionOptions& wanted = selection.options();
  if (wanted.window.open()) return {};
  const SampleWindow window = selection.window();
  const auto is_in = [&window](const std::optional<SampleWindow>& seen) {
    return seen && window.from_ns <= seen->to_ns && window.to_ns > seen->from_ns;
  };
  if (is_in(selection.seen())) return {};
  // The section may have read only some kinds of lines.
  Selection all(wanted, selection.iterations());
  const std::optional<SampleWindow> seen = seen_by(all, files);
  const std::string what = "--window " + span_text(wanted.window);
  if (!seen) return what + ": the trace has no GPU work and no range";
  if (is_in(seen)) return {};
  return what + ": the trace is from " + span_text(HalfOpen<TimeNs>{seen->from_ns, seen->to_ns});
}

}  // namespace

std::string unmatched_text(const Selection& selection, const TraceTotals& trace) {
  const SelectionOptions& wanted = selection.options();
  if (trace.in_range && trace.in_range->paths.empty())
    return no_path_text("--range", wanted.range, trace.paths);
  if (!wanted.kernel.empty() && !matches_kernel(trace, wanted.kernel))
    return no_kernel_text("--kernel", trace, wanted.kernel);
  if (!wanted.iteration_range.empty() && !has_path(trace, wanted.iteration_range))
    return no_path_text("--iteration-range", wanted.iteration_range, trace.paths);
  if (!wanted.iterations.open() &&
      wanted.iterations.first.value_or(0) >= selection.iterations().instances.size())
    return no_iterations_text(selection.iterations(), wanted.iterations);
  const std::string outside = window_text(selection, trace.files);
  return outside.empty() ? not_together_text(wanted, trace) : outside;
}

void tell_unused_communication(const TraceTotals& trace) {
  const std::string& pattern = trace.files.communication;
  if (pattern.empty() || matches_kernel(trace, pattern)) return;
  std::cerr << "rangefinder: " << no_kernel_text("--communication", trace, pattern) << "\n";
}

void check_sort(const std::string& sort, const std::string& section, const Section& of) {
  if (sort.empty()) return;
  const std::vector<std::string> known = of.sort_keys();
  if (known.empty() || std::find(known.begin(), known.end(), sort_key(sort)) != known.end()) return;
  std::string text = "--sort " + sort + ": the section " + section + " can be sorted by";
  for (const std::string& name : known) text += " " + name;
  throw WrongUse(text);
}

void check_sort(const std::string& sort, const std::string& section, const std::vector<Table>& tables) {
  std::string known;
  for (const Table& table : tables) {
    if (table.name.empty()) continue;
    if (sort_column(table, sort) != nullptr) return;
    for (const TableColumn& column : table.columns) known += " " + column.key;
  }
  throw WrongUse("--sort " + sort + ": the section " + section + " can be sorted by" + known);
}

}  // namespace rangefinder
