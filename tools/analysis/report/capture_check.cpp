// SPDX-License-Identifier: Apache-2.0
//
// `--section graphs --check`: what stands in the way of capturing the program in CUDA graphs; for CI.
//
//   while capturing   calls of a thread between begin and end of its capture
//   in an iteration   calls outside of a capture, if no iteration launches a graph
//
// One row per module and call; findings/capture_calls.h says what prevents a capture. A call that capture
// forbids passes if its capture was valid: its mode allowed it, as PyTorch's allocations. With --all it fails
// too, as `--section findings --all` reports it.
#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>

#include "profiler/base/iteration_names.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/findings/facts.h"
#include "tools/analysis/findings/finding_context.h"
#include "tools/analysis/findings/findings.h"
#include "tools/analysis/queries/cells.h"
#include "tools/analysis/report/section_kinds.h"

namespace rangefinder {
namespace {

/// For errors that have one cause.
std::optional<std::string_view> error_advice(const CaptureCall& call) {
  if (call.obstacle == CaptureObstacle::broke_capture && call.elsewhere)
    return "the call after the capture, or cudaStreamCaptureModeThreadLocal";
  if (call.obstacle != CaptureObstacle::error) return std::nullopt;
  constexpr std::int32_t kUnjoined = 904, kIsolation = 905, kImplicit = 906;
  if (call.result == kImplicit) return capture_advice(CaptureObstacle::default_stream).instead;
  if (call.result != kUnjoined && call.result != kIsolation) return std::nullopt;
  return "events that join its stream to the captured one";
}

/// What the check found.
struct CheckResult {
  struct CountedCall {
    CaptureCall call;
    std::uint64_t count = 0;
    bool capturing = false;
  };
  std::vector<CountedCall> rows;
  std::uint64_t iterations = 0;
  bool judged = false;                  ///< a capture, or iterations to capture, were found
  std::vector<std::string> not_judged;  ///< and why
};

std::vector<std::string> not_judged(const FindingContext& context, std::uint64_t iterations,
                                    bool uses_graphs) {
  const FindingFacts& facts = context.facts;
  std::vector<std::string> out;
  if (facts.captures.captures() == 0) out.emplace_back("captures: none was made while recording");
  if (iterations == 0) {
    out.emplace_back("iterations: no range marks three of them; name their range with --iteration-range");
  }
  if (uses_graphs) {
    out.push_back("calls around the graphs that iterations (" + context.iterations.path + ") launch");
  }
  if (!facts.any_sync && !facts.any_event) {
    out.emplace_back("synchronisation: none is in the trace; none was made, or --no-events");
  }
  if (!facts.any_alloc) out.emplace_back("allocations: none is in the trace; none was made, or --no-memory");
  if (facts.log.full()) out.push_back("calls after the first " + count_text(CallLog::kMax) + " of a kind");
  out.emplace_back(
      "what is never recorded: cudaStreamQuery, cudaEventQuery, host functions, loading of modules, and "
      "calls that fail unless they launch work or break a capture");
  return out;
}

CheckResult check_captures(const FindingContext& context) {
  CheckResult out;
  const auto add = [&](const CaptureCounts& counts, bool capturing) {
    for (const auto& [call, count] : counts) {
      if (context.input.trace.shows(call.path)) out.rows.push_back({call, count, capturing});
    }
  };
  add(context.facts.captures.counts(), true);
  out.iterations = context.loop.found() ? context.loop.count : 0;
  const bool uses_graphs = out.iterations != 0 && loop_uses_graphs(context);
  if (!uses_graphs) add(loop_calls(context), false);
  out.judged = context.facts.captures.captures() != 0 || out.iterations != 0;
  out.not_judged = not_judged(context, out.iterations, uses_graphs);
  return out;
}

class CaptureCheckSection final : public Section {
 public:
  void start(const Iterations& iterations) override {
    iterations_ = iterations;
    rules_.emplace(iterations_);
  }
  void read(const EachRows& each) override { rules_->read(each); }
  [[nodiscard]] bool reads_all_ranges() const override { return true; }

  std::vector<Table> tables(const SectionInput& input) override {
    if (!checked_) compute(input);
    return {table_};
  }

  /// What to use in place of a call has lines of its own where a terminal is too narrow for the column.
  std::string text(const SectionInput& input, const TextStyle& style) override {
    std::vector<Table> made = tables(input);
    if (style.width != 0 && failed_ != 0) {
      made.push_back(advice_rows(made.front()));
      std::swap(made.front().remarks, made.back().remarks);
      made.front().columns.pop_back();
      for (auto& row : made.front().rows) row.pop_back();
    }
    arrange(made, input.view);
    for (Table& table : made) {
      drop_empty_columns(table);
      if (style.width == 0) continue;
      table.empty = wrapped_lines(table.empty, style.width);
      if (table.empty.ends_with('\n')) table.empty.pop_back();
    }
    return render_tables(std::move(made), input.view, style);
  }

  nlohmann::ordered_json json(const SectionInput& input) override {
    const std::vector<Table> made = tables(input);
    nlohmann::ordered_json out{{"verdict", failed_ != 0 ? "fail" : "pass"},
                               {"summary", table_.title},
                               {"iterations", checked_->iterations}};
    out["not_judged"] = checked_->not_judged;
    out.update(Section::json(input));
    return out;
  }

  [[nodiscard]] bool fails() const override { return failed_ != 0; }

 private:
  /// A row of the table: rows of paths that are shown alike are one.
  struct VerdictRow {
    bool passes = false, in_iteration = false;
    bool of_stream = false;  ///< fails for its stream alone: such rows hide the others
    std::string module, api, thread, why, instead;
    auto operator<=>(const VerdictRow&) const = default;
  };

  static bool passes(const CheckResult::CountedCall& row, bool strict) {
    const CaptureObstacle obstacle = row.call.obstacle;
    if (obstacle == CaptureObstacle::none) return true;
    return row.capturing && obstacle != CaptureObstacle::error &&
           obstacle != CaptureObstacle::invalid_capture && obstacle != CaptureObstacle::broke_capture &&
           row.call.valid_capture && !strict;
  }

  static VerdictRow key_of(const CheckResult::CountedCall& row, const SectionInput& input) {
    const CaptureCall& call = row.call;
    const CaptureAdvice advice = capture_advice(call.obstacle);
    VerdictRow key;
    key.passes = passes(row, input.view.all);
    key.in_iteration = !row.capturing;
    key.of_stream = call.obstacle == CaptureObstacle::default_stream;
    key.module =
        numbers_folded(path_title(input.trace, path_at_depth(input.trace, call.path, input.view.depth)));
    key.api = call.api;
    key.why = advice.why;
    if (call.obstacle == CaptureObstacle::broke_capture) {
      key.thread = thread_title(input.trace, call.thread);
      key.why += " in " + path_title(input.trace, call.broken) + ", on thread " + key.thread;
    }
    if (call.obstacle == CaptureObstacle::error || call.obstacle == CaptureObstacle::invalid_capture ||
        call.obstacle == CaptureObstacle::broke_capture) {
      key.why += (key.why.empty() ? "" : ": ") + capture_error_text(call.result);
    }
    if (key.passes && call.obstacle != CaptureObstacle::none) {
      key.why = "allowed by its mode";
    } else {
      key.instead = error_advice(call).value_or(advice.instead);
    }
    return key;
  }

  void compute(const SectionInput& input) {
    checked_ = check_captures(rules_->context(input));
    std::map<VerdictRow, std::uint64_t> rows;
    std::set<std::string> modules;
    std::uint64_t calls = 0;
    for (const CheckResult::CountedCall& row : checked_->rows) {
      VerdictRow key = key_of(row, input);
      if (!key.passes) {
        calls += row.count;
        modules.insert(key.module);
      }
      rows[std::move(key)] += row.count;
    }
    failed_ = calls;
    table_ = empty_table();
    table_.title = calls != 0 ? "FAIL: " + counted_text(calls, "call", "calls") + " of " +
                                    counted_text(modules.size(), "module", "modules") +
                                    (calls == 1 ? " stands" : " stand") + " in the way of capture"
                   : checked_->judged
                       ? "PASS: nothing that ran stands in the way of capture"
                       : "PASS: nothing that ran stands in the way of capture, but little was judged";
    std::vector<std::pair<VerdictRow, std::uint64_t>> sorted(rows.begin(), rows.end());
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.first.passes, a.first.in_iteration, a.first.of_stream, b.second) <
             std::tuple(b.first.passes, b.first.in_iteration, b.first.of_stream, a.second);
    });
    for (const auto& [key, count] : sorted) {
      const Cell each = key.in_iteration ? ratio_cell(count, checked_->iterations) : Cell();
      const Cell when =
          key.in_iteration
              ? Cell(CellValue(std::string("in an iteration, outside of a capture")), "in an iteration")
              : text_cell("while capturing");
      table_.add({text_cell(key.module), text_cell(key.api), some_text(key.thread), number_cell(count), each,
                  when, text_cell(key.passes ? "pass" : "fail"), some_text(key.why), some_text(key.instead)});
    }
    for (const Finding& finding : rules_->findings(input)) {
      if (calls != 0 && finding.id == "launch_bound")
        table_.remarks += "What a graph may save: " + finding.title + "\n";
    }
    for (const std::string& line : checked_->not_judged) table_.remarks += "Not judged: " + line + "\n";
    if (table_.rows.empty()) {
      table_.empty =
          "No call that waits, copies or allocates was made while capturing or in an iteration.\n" +
          table_.remarks;
      table_.empty.pop_back();
    }
  }

  /// One row for each reason of a failing row.
  static Table advice_rows(const Table& checked) {
    Table table;
    table.name = "advice";
    table.arranged = true;  // whatever rows --top keeps
    table.columns = {{"why", "why"}, {"instead", "use in its place"}};
    std::set<std::string> seen;
    for (const auto& row : checked.rows) {
      const std::string instead = cell_text(row.back(), Unit::text, true);
      if (instead.empty() || !seen.insert(instead).second) continue;
      table.add({row[row.size() - 2], row.back()});
    }
    return table;
  }

  static Cell some_text(const std::string& text) { return text.empty() ? Cell() : text_cell(text); }

  static Table empty_table() {
    Table table;
    table.name = "capture_check";
    table.columns = {{"module", "module"},
                     {"api", "call"},
                     {"thread", "thread", Unit::text, 80},
                     {"count", "count", Unit::count},
                     {"per_iteration", "per iteration", Unit::number, 70},
                     {"when", "when", Unit::text, 60},
                     {"verdict", "verdict"},
                     {"why", "why"},
                     {"instead", "use in its place", Unit::text, 40}};
    return table;
  }

  Iterations iterations_;
  std::optional<FindingRules> rules_;
  std::optional<CheckResult> checked_;
  Table table_;
  std::uint64_t failed_ = 0;
};

}  // namespace

const SectionKind kCaptureCheckSection{"graphs",
                                       "calls that prevent the capture of CUDA graphs",
                                       make_section<CaptureCheckSection>,
                                       FindingRules::kColumns,
                                       false,
                                       true};

}  // namespace rangefinder
