// SPDX-License-Identifier: Apache-2.0
//
// rangefinder diff A B [--fail-over 5%] | diff --save FILE TRACE | diff TRACE --kernel X Y
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/name_pattern.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/diff/baseline.h"
#include "tools/analysis/diff/diff_answer.h"
#include "tools/analysis/diff/job_series.h"
#include "tools/analysis/diff/kernel_comparison.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/report/read_job.h"
#include "tools/analysis/table/table_render.h"
#include "tools/command_line/command_line.h"
#include "tools/export/output_file.h"
#include "tools/rangefinder/fail_limits.h"
#include "tools/rangefinder/named_traces.h"
#include "tools/rangefinder/read_options.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct DiffVerb {
  std::vector<std::string> places;
  std::vector<std::string> kernels;
  std::string iteration_range, iterations, fail_over, save, least = "2%", min_change;
  std::uint64_t top = 0;
  bool allow_unchecked = false, all = false, wide = false, json = false, csv = false, markdown = false;
  ReadOptions reading;
};

/// `traces`: those in `place`.
TraceFolder one_trace(const std::string& place, std::vector<TraceFolder> traces) {
  if (traces.size() == 1) return std::move(traces.front());
  std::string text = place + " holds " + count_text(traces.size()) + " traces; name one of them:";
  for (const TraceFolder& trace : traces) text += "\n  " + trace.folder.string();
  text += "\nFolders rank=… or host=…/rank=…/pid=… below one folder are compared as the ranks of a job.";
  throw Missing(text);
}

bool is_baseline(const std::string& place) {
  const std::filesystem::path file(place);
  return file.extension() == ".json" && file.filename() != "summary.json" &&
         std::filesystem::is_regular_file(file);
}

HalfOpen<std::uint64_t> selected(const DiffVerb& verb) {
  return verb.iterations.empty() ? HalfOpen<std::uint64_t>() : parse_iterations(verb.iterations);
}

/// A side of the comparison: a trace, or a file of --save, which has its iterations chosen.
IterationSeries side(const std::string& place, const DiffVerb& verb) {
  if (is_baseline(place)) return read_baseline(place);
  std::vector<TraceFolder> traces = named_traces({place});
  verb.reading.pass_to(traces, verb.iteration_range);
  if (traces.size() > 1 && ranks_of_one_job(traces)) {
    const ReadJob job(traces, verb.reading.limits());
    std::cerr << missing_text(missing_ranks(*job));
    return series_of_job(*job, selected(verb));
  }
  return IterationSeries::load(one_trace(place, std::move(traces)), verb.iteration_range, selected(verb),
                               verb.reading.limits());
}

int save(const DiffVerb& verb) {
  if (std::filesystem::path(verb.save).extension() != ".json") {
    throw WrongUse("--save " + verb.save + ": the name of a baseline ends in .json");
  }
  const IterationSeries series = side(verb.places[0], verb);
  OutputFile file(verb.save, Overwrite::yes);
  file.text() = baseline_text(series);
  const std::size_t bytes = file.text().size();
  file.commit();
  std::cerr << verb.save << ": " << bytes_text(bytes) << ", "
            << counted_text(series.iterations, "iteration", "iterations") << ".  Next:  rangefinder diff "
            << quoted_for_shell(verb.save) << " TRACE\n";
  return kExitOk;
}

/// What --fail-over found.
struct FailCheck {
  std::vector<const Change*> failed;
  std::string unchecked;  ///< why; empty: everything was checked

  FailCheck(const FailLimits& limits, const TraceDiff& diff)
      : failed(limits.failed(diff)), unchecked(limits.unchecked(diff)) {}

  /// `cause`: DiffAnswer::likely_cause()
  [[nodiscard]] std::string text(const std::string& limits, bool allow_unchecked,
                                 const std::string& cause) const {
    std::string out;
    if (!unchecked.empty()) {
      out = unchecked + ": --fail-over could not check the limits" +
            (allow_unchecked ? ", and --allow-unchecked passes that" : "") + ".\n";
    }
    if (failed.empty()) return unchecked.empty() ? "Nothing is worse by more than " + limits + ".\n" : out;
    const std::string& path = failed.front()->key;
    return out + counted_text(failed.size(), "row is", "rows are") + " worse by more than " + limits +
           "; the first: " + (path.empty() ? "the iteration" : printable(path)) + "\n" +
           (cause.empty() ? "" : cause + "\n");
  }

  [[nodiscard]] int exit_code(bool allow_unchecked) const {
    if (!failed.empty()) return kExitCheckFailed;
    return unchecked.empty() || allow_unchecked ? kExitOk : kExitUnchecked;
  }
};

/// "20us" or "1%"; empty: the default.
void set_min_change(DiffOptions& options, const std::string& text) {
  if (text.empty()) return;
  const auto is_time = [&text](std::string_view unit) { return text.ends_with(unit); };
  const bool time = is_time("ns") || is_time("us") || is_time("ms");
  if (!time) {
    options.min_ns = 0;
    options.min_share = parse_share("--min-change", text);
    return;
  }
  const double factor = is_time("ms") ? 1e6 : is_time("us") ? 1e3 : 1;
  options.min_share = 0;
  options.min_ns = factor * 100 * parse_share("--min-change", text.substr(0, text.size() - 2) + "%");
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

void print_text(const DiffAnswer& answer, const std::vector<Table>& tables, const DiffVerb& verb) {
  const std::string ratios = answer.ratios.text();
  const std::string set_ups = answer.set_ups();
  std::cout << answer.verdict.text << "\n"
            << (set_ups.empty() ? "" : set_ups + "\n") << (ratios.empty() ? "" : ratios + "\n") << "\n"
            << answer.sides_text();
  print_tables(tables, verb);
  std::cout << "\n" << answer.explanation();
}

int diff_traces(const DiffVerb& verb) {
  const FailLimits limits = FailLimits::parse(verb.fail_over);
  DiffOptions options;
  options.least = parse_share("--least", verb.least);
  set_min_change(options, verb.min_change);
  IterationSeries a = side(verb.places[0], verb), b = side(verb.places[1], verb);
  if ((a.ranks == 0) != (b.ranks == 0)) {
    throw WrongUse(verb.places[a.ranks == 0 ? 1 : 0] + " holds the ranks of a job, " +
                   verb.places[a.ranks == 0 ? 0 : 1] +
                   " one trace\n  Compare two jobs, or name one rank of it.");
  }
  const DiffAnswer answer(std::move(a), std::move(b), options);
  std::vector<Table> tables = diff_tables(answer.diff, verb.all);
  const auto is_kernels = [](const Table& table) { return table.name == "kernels"; };
  if (answer.a.ranks != 0 && !verb.json) std::erase_if(tables, is_kernels);  // not compared
  for (std::size_t i = 1; i < tables.size(); ++i) keep_first(tables[i], verb.top);
  // Every row is new or gone.
  if (answer.diff.basis == Basis::none && !verb.all && !verb.json && !verb.csv) tables.resize(1);
  const FailCheck check(limits, answer.diff);
  const std::string outcome =
      verb.fail_over.empty() ? "" : check.text(verb.fail_over, verb.allow_unchecked, answer.likely_cause());
  if (verb.json) {
    OrderedJson out = answer.json(tables);
    if (!verb.fail_over.empty() && (check.unchecked.empty() || !check.failed.empty()))
      out["failed"] = !check.failed.empty();
    if (!check.unchecked.empty()) out["unchecked"] = check.unchecked;
    std::cout << dump_json(out) << "\n";
  } else if (verb.csv) {
    std::cout << render_csv(tables[1]);
  } else if (verb.markdown) {
    std::cout << answer.markdown(std::move(tables), check.failed, outcome);
  } else {
    print_text(answer, tables, verb);
    std::cout << outcome;
  }
  return check.exit_code(verb.allow_unchecked);
}

int diff_kernels(const DiffVerb& verb) {
  const std::vector<Table> tables{compare_kernels(one_trace(verb.places[0], named_traces({verb.places[0]})),
                                                  verb.kernels[0], verb.kernels[1], verb.reading.limits())};
  if (verb.json) {
    OrderedJson out{{"schema", "rangefinder.diff"}, {"version", "1.1"}};
    out[tables[0].name] = render_rows(tables[0]);
    std::cout << dump_json(out) << "\n";
  } else {
    print_tables(tables, verb);
  }
  return kExitOk;
}

int diff(const DiffVerb& verb) {
  const bool one = !verb.kernels.empty() || !verb.save.empty();
  if (verb.places.size() != (one ? 1 : 2)) {
    throw WrongUse(!verb.save.empty() ? "diff --save FILE keeps the numbers of one trace"
                   : one              ? "diff --kernel X Y compares two kernels within one trace"
                                      : "diff compares two traces: rangefinder diff BEFORE AFTER");
  }
  if (int{verb.json} + int{verb.csv} + int{verb.markdown} > 1) {
    throw WrongUse("--json, --csv and --md exclude each other");
  }
  try {
    if (!verb.save.empty()) return save(verb);
    return verb.kernels.empty() ? diff_traces(verb) : diff_kernels(verb);
  } catch (const NamePattern::Invalid& error) {
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
  command.usage("--save FILE TRACE");
  command
      .option("TRACE", verb->places,
              "Two traces, before and after: folders, or files of --save; one with --kernel")
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
  verb->reading.add_to(command);
  command.group("Limits");
  command.option("--least", verb->least, "Ignore changes below this share [2%]").type_name("SHARE");
  command
      .option(
          "--fail-over", verb->fail_over,
          "Exit with code 1 if an iteration, or GPU time or bytes of a module got worse by more than this "
          "share, as in 5%, or iteration=3%,module=10%,dram=5%")
      .type_name("LIMITS");
  command.flag("--allow-unchecked", verb->allow_unchecked,
               "Exit with code 0, not 4, if --fail-over cannot check a limit");
  command
      .option("--min-change", verb->min_change,
              "Ignore changes of modules, kernels and calls below this time or share of the iteration, as in "
              "20us or 1% [the larger of 10us and 0.5%]")
      .type_name("TIME|SHARE");
  command.group("Output");
  command
      .option(
          "--save", verb->save,
          "Keep what a comparison needs of one trace in this .json file, which stands for the trace later")
      .type_name("FILE");
  add_color_option(command);
  command.option("--top", verb->top, "Show the first N rows of each table").type_name("N").positive();
  command.flag("--all", verb->all, "Also show rows without a change");
  command.flag("--wide", verb->wide, "Show all columns, whatever the line length");
  command.flag("--json", verb->json, "As JSON");
  command.flag("--csv", verb->csv, "As CSV: the modules, or the two kernels");
  command.flag("--md", verb->markdown, "As Markdown for a comment: verdict, iteration, modules that changed");
  command.callback([verb, &action] { action = [verb] { return diff(*verb); }; });
}

}  // namespace rangefinder
