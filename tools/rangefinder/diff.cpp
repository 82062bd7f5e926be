// SPDX-License-Identifier: Apache-2.0
//
// rangefinder diff A B [--fail-over 5%] | diff TRACE --kernel X Y
#include <unistd.h>

#include <cstdint>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/diff/diff_verdict.h"
#include "tools/analysis/diff/kernel_comparison.h"
#include "tools/analysis/diff/trace_diff.h"
#include "tools/analysis/read/missing.h"
#include "tools/analysis/tables/rows_json.h"
#include "tools/analysis/tables/table_render.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/fail_limits.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct DiffVerb {
  std::vector<std::string> places;
  std::vector<std::string> kernels;
  std::string iteration_range, iterations, fail_over, least = "2%";
  std::uint64_t top = 0;
  bool all = false, wide = false, json = false, csv = false, markdown = false;
};

TraceFolder one_trace(const std::string& place) {
  std::vector<TraceFolder> traces = find_traces(place);
  if (traces.size() == 1) return std::move(traces.front());
  std::string text = place + " holds " + count_text(traces.size()) + " traces; name one of them:";
  for (const TraceFolder& trace : traces) text += "\n  " + trace.folder.string();
  throw Missing(text);
}

std::string side_text(const char* name, const IterationSeries& series) {
  std::string out = std::string(name) + "  " + series.title + "\n";
  if (series.iteration_path.empty()) {
    return out + "   no iterations found: totals are compared, without a significance test\n";
  }
  return out + "   " + counted_text(series.iterations, "iteration", "iterations") + " of " +
         printable(series.iteration_path) + ", in " +
         counted_text(series.batch_sizes.size(), "batch", "batches") + "\n";
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + "\n";
  return out;
}

OrderedJson side_json(const IterationSeries& series) {
  return {{"trace", series.title},
          {"iteration_path", series.iteration_path},
          {"iterations", series.iterations},
          {"counters", series.counters},
          {"batches", series.batch_sizes.size()}};
}

/// Exact counters serialise launches, which changes their durations.
std::string mode_warning(const IterationSeries& a, const IterationSeries& b) {
  if ((a.counters == "exact") == (b.counters == "exact")) return {};
  return "Only one side was measured with exact counters, which serialise launches. Kernels that overlap, "
         "or\n"
         "start before the previous one ends, differ for that reason alone.\n";
}

std::string explanation(const DiffOptions& options) {
  return "Values are per iteration. Wall time: until its GPU work is done; GPU idle: its part without a "
         "kernel.\n"
         "±: half the 95 % confidence interval of the change (sampled bytes: their "
         "stated error).\n"
         "better, worse: a change of at least " +
         percent_text(options.least) +
         " that is significant (Welch's t-test over batches, Holm's correction, " +
         percent_text(options.alpha) + ").\n";
}

std::string failures(const std::vector<const Change*>& failed, const TraceDiff& diff,
                     const std::string& limits) {
  std::string out;
  if (diff.iterations.empty() || diff.iterations.front().verdict == Verdict::untested) {
    out = "Too few iterations to test: --fail-over could not check them.\n";
  }
  if (failed.empty()) return out + "Nothing is worse by more than " + limits + ".\n";
  const std::string& path = failed.front()->key;
  return out + counted_text(failed.size(), "row is", "rows are") + " worse by more than " + limits +
         "; the first: " + (path.empty() ? "the iteration" : printable(path)) + "\n";
}

void print_tables(const std::vector<Table>& tables, const DiffVerb& verb) {
  const TextStyle style{verb.wide ? 0 : line_width(STDOUT_FILENO), use_colour(STDOUT_FILENO)};
  if (verb.csv) {
    std::cout << render_csv(tables.front());
    return;
  }
  for (const Table& table : tables) {
    std::cout << "\n" << (verb.markdown ? render_markdown(table, false) : render_text(table, style));
  }
}

int diff_traces(const DiffVerb& verb) {
  const FailLimits limits = FailLimits::parse(verb.fail_over);
  DiffOptions options;
  options.least = parse_share("--least", verb.least);
  HalfOpen<std::uint64_t> iterations;
  if (!verb.iterations.empty()) iterations = parse_iterations(verb.iterations);
  TraceFolder files_a = one_trace(verb.places[0]), files_b = one_trace(verb.places[1]);
  files_a.iteration_range = files_b.iteration_range = verb.iteration_range;
  const auto a = IterationSeries::load(files_a, verb.iteration_range, iterations);
  const auto b = IterationSeries::load(files_b, verb.iteration_range, iterations);
  const TraceDiff diff = compare(a, b, options);
  std::vector<Table> tables{module_changes(diff, verb.all), kernel_changes(diff, verb.all)};
  for (Table& table : tables) keep_first(table, verb.top);
  if (!verb.csv) tables.insert(tables.begin(), iteration_changes(diff));
  const DiffVerdict verdict = verdict_of(diff, a, b, options.least);
  const std::vector<const Change*> failed = limits.failed(diff);
  if (verb.json) {
    OrderedJson out{
        {"schema", "rangefinder.diff"}, {"version", "1.0"}, {"a", side_json(a)}, {"b", side_json(b)}};
    out["differences"] = differences_of(a, b);
    out["verdict"] = {{"result", verdict.result}, {"text", verdict.text}};
    for (const Table& table : tables) out[table.name] = render_rows(table);
    if (!verb.fail_over.empty()) out["failed"] = !failed.empty();
    std::cout << dump_json(out) << "\n";
  } else {
    if (!verb.csv)
      std::cout << verdict.text << "\n"
                << lines_of(differences_of(a, b)) << "\n"
                << side_text("A", a) << side_text("B", b) << mode_warning(a, b);
    print_tables(tables, verb);
    if (!verb.csv && !verb.markdown) std::cout << "\n" << explanation(options);
    if (!verb.fail_over.empty() && !verb.csv) std::cout << failures(failed, diff, verb.fail_over);
  }
  return failed.empty() ? kExitOk : kExitCheckFailed;
}

int diff_kernels(const DiffVerb& verb) {
  const std::vector<Table> tables{
      compare_kernels(one_trace(verb.places[0]), verb.kernels[0], verb.kernels[1])};
  if (verb.json) {
    OrderedJson out{{"schema", "rangefinder.diff"}, {"version", "1.0"}};
    out[tables[0].name] = render_rows(tables[0]);
    std::cout << dump_json(out) << "\n";
  } else {
    print_tables(tables, verb);
  }
  return kExitOk;
}

int diff(const DiffVerb& verb) {
  const std::size_t wanted = verb.kernels.empty() ? 2 : 1;
  if (verb.places.size() != wanted) {
    throw WrongUse(wanted == 2 ? "diff compares two traces: rangefinder diff BEFORE AFTER"
                               : "diff --kernel X Y compares two kernels within one trace");
  }
  if (int{verb.json} + int{verb.csv} + int{verb.markdown} > 1) {
    throw WrongUse("--json, --csv and --md exclude each other");
  }
  try {
    return verb.kernels.empty() ? diff_traces(verb) : diff_kernels(verb);
  } catch (const std::regex_error& error) {
    throw WrongUse(std::string("--kernel is not a valid regular expression: ") + error.what());
  } catch (const std::invalid_argument& error) {
    throw WrongUse(error.what());
  }
}

}  // namespace

void add_diff(CommandLine& line, Action& action) {
  const auto verb = std::make_shared<DiffVerb>();
  Verb command = line.verb("diff", "Compare two traces, or two kernels of one trace");
  command.usage("[OPTIONS] BEFORE AFTER");
  command.usage("[OPTIONS] --kernel REGEX REGEX TRACE");
  command.option("TRACE", verb->places, "Folders of two traces, before and after; of one with --kernel")
      .required()
      .expected(1, 2);
  command.group("What is compared");
  command.option("--kernel", verb->kernels, "Two kernels of one trace, by regular expressions")
      .type_name("REGEX")
      .expected(2);
  command
      .option("--iteration-range", verb->iteration_range,
              "Path of the iterations, as in infer_* [ranges whose names differ in a number, …]")
      .type_name("GLOB");
  command
      .option("--iterations", verb->iterations,
              "Only iterations FIRST:LAST, counted from 0, without LAST [those after the warm-up]")
      .type_name("FIRST:LAST");
  command.group("Limits");
  command.option("--least", verb->least, "Ignore changes below this share [2%]").type_name("SHARE");
  command
      .option("--fail-over", verb->fail_over,
              "Exit with code 1 if an iteration or a module got worse by more than this share, as in 5%, or "
              "iteration=3%,module=10%,dram=5%")
      .type_name("LIMITS");
  command.group("Output");
  command.option("--top", verb->top, "Show the first N rows of each table").type_name("N").positive();
  command.flag("--all", verb->all, "Also show rows without a change");
  command.flag("--wide", verb->wide, "Show all columns, whatever the line length");
  command.flag("--json", verb->json, "As JSON");
  command.flag("--csv", verb->csv, "As CSV: the modules, or the two kernels");
  command.flag("--md", verb->markdown, "As Markdown tables");
  command.callback([verb, &action] { action = [verb] { return diff(*verb); }; });
}

}  // namespace rangefinder
