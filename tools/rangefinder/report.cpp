// SPDX-License-Identifier: Apache-2.0
//
// rangefinder report DIR… [--section NAME] [--json|--csv|--md] [--html FILE]
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "profiler/base/edit_distance.h"
#include "profiler/base/name_pattern.h"
#include "profiler/base/number_text.h"
#include "tools/analysis/model/no_match.h"
#include "tools/analysis/model/selection.h"
#include "tools/analysis/model/trace.h"
#include "tools/analysis/queries/hints.h"
#include "tools/analysis/queries/iteration_log.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/queries/section.h"
#include "tools/analysis/ranks/rank_lines.h"
#include "tools/analysis/report/kept_end.h"
#include "tools/analysis/report/section_reading.h"
#include "tools/analysis/table/table_render.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/installation.h"
#include "tools/rangefinder/named_traces.h"
#include "tools/rangefinder/read_options.h"
#include "tools/rangefinder/report_html.h"
#include "tools/rangefinder/report_ranks.h"
#include "tools/rangefinder/report_selection.h"
#include "tools/rangefinder/report_text.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct ReportOptions {
  std::vector<std::string> places;
  std::string section;  ///< empty: overview; modules and layers of a selection or of several traces
  std::string table;    ///< --csv: name of the table; empty: the section's main table
  std::string iterations, window;
  std::string html;      ///< file to write the page to
  std::string split_by;  ///< folder of a sampled trace
  SelectionOptions selection;
  SectionView view;
  std::string example;  ///< read this trace that comes with Rangefinder
  bool wide = false, raw = false, json = false, csv = false, markdown = false, each = false, strict = false;
  ReadOptions reading;
  ReadLimits limits;      ///< of `reading`
  bool as_ranks = false;  ///< compare the traces as the ranks of a job; by default, if their folders are

  [[nodiscard]] TextStyle style() const {
    return {wide ? 0 : line_width(STDOUT_FILENO), use_colour(STDOUT_FILENO), raw};
  }
};

/// One trace, read for one section.
struct Loaded {
  Loaded(const TraceFolder& files, const ReportOptions& options, const SectionKind& kind, bool of_several)
      : section(kind.make == nullptr ? nullptr : kind.make(options.view)),
        lines(section.get()),
        reading(files, kind, of_several ? lines : *section, read_options(options, of_several)) {
    if (!options.split_by.empty()) split(options.split_by, options.limits);
  }

  static SectionReadOptions read_options(const ReportOptions& options, bool of_several) {
    const bool whole = options.selection.everything() && options.split_by.empty();
    return {.selected = options.selection,
            .json = options.json,
            .total = options.view.total,
            .counted = whole && !options.csv && !of_several,
            .iterations = of_several,
            .more = of_several ? RankWork::kColumns : Columns(),
            .limits = options.limits};
  }

  void split(const std::string& place, const ReadLimits& limits) {
    Trace rows(open_trace_folder(place),
               {TotalsFold::kColumns, SampledTrace::kColumns, {}, Keep::if_sampled, limits});
    Selection all;
    const TraceTotals other = load_totals(rows, all);
    const RowValues sampled = load_row_values(other, rows, all);
    if (sampled.sampled() == nullptr) {
      throw WrongUse("--split-by " + place + ": that trace has no hardware samples" +
                     (RecordedCounters(other).sampled() ? "" : "; record it with --counters sampled"));
    }
    if (!reading.values->split_by(reading.trace, other, *sampled.sampled())) {
      throw WrongUse("--split-by " + place + ": no path of a measured graph has samples there");
    }
  }

  [[nodiscard]] SectionInput input(const ReportOptions& options) const {
    return {reading.trace, *reading.values, options.view, reading.counted.get()};
  }

  std::unique_ptr<Section> section;
  RankLines lines;
  SectionReading reading;
};

OrderedJson trace_json(const Loaded& loaded, const ReportOptions& options) {
  const TraceTotals& trace = loaded.reading.trace;
  OrderedJson out{{"folder", trace.files.folder.string()},
                  {"process", process_object(trace.header)},
                  {"duration_ns", trace.last_ns},
                  {"gpus", OrderedJson::array()}};
  for (const GpuRecord& gpu : trace.gpus) out["gpus"].push_back(gpu_object(gpu));
  if (!loaded.reading.selection.everything()) out["selection"] = loaded.reading.selection.text();
  out.update(loaded.section->json(loaded.input(options)));
  if (!out.contains("memcpy")) {
    out["memcpy"] = OrderedJson::array();
    for (const MemcpyTotals& row : trace.selected().copies()) out["memcpy"].push_back(copy_row(row));
  }
  if (loaded.reading.values->sampled() != nullptr)
    out["samples"] = samples_object(loaded.reading.trace, *loaded.reading.values->sampled());
  if (OrderedJson truth = truth_object(loaded.reading.values->truth()); !truth.is_null())
    out["truth"] = truth;
  out["loss"] = loss_object(trace.loss);
  if (OrderedJson kept = kept_end_json(trace, *loaded.reading.values, loaded.reading.selection.everything());
      !kept.is_null())
    out["kept_end"] = std::move(kept);
  for (const auto& [start_ns, end_ns, cause] : trace.gaps)
    out["gaps"].push_back({{"start_ns", start_ns}, {"end_ns", end_ns}, {"cause", printable(cause)}});
  out["ended"] = trace.end.has_value();
  out["torn"] = trace.read.torn;
  out["broken_lines"] = trace.read.broken;
  return out;
}

std::string trace_text(const Loaded& loaded, const ReportOptions& options) {
  std::string out = options.section == "overview" ? "" : report_title(loaded.reading.trace);
  if (!loaded.reading.selection.everything()) out += loaded.reading.selection.text() + "\n";
  if (loaded.reading.trace.header.monitor_period_ns != 0 && options.section != "monitor") {
    out += "Monitor mode: GPU work of windows only. --section monitor has rates of the whole run\n";
  }
  out += kept_end_text(loaded.reading.trace, *loaded.reading.values, loaded.reading.selection.everything(),
                       options.style());
  if (!out.empty()) out += "\n";
  out += loaded.section->text(loaded.input(options), options.style()) + "\n";
  const std::string footer = report_footer(loaded.reading.trace, *loaded.reading.values, options.section);
  return out + wrapped_lines(footer, options.style().width) +
         loaded.section->ending(loaded.input(options), options.style());
}

std::string trace_markdown(const Loaded& loaded, const ReportOptions& options) {
  const std::vector<Table> tables =
      shown_tables(loaded.section->tables(loaded.input(options)), &Outputs::markdown, options.view);
  std::string out = "`" + printable(loaded.reading.trace.files.folder.string()) + "`\n\n" +
                    loaded.section->markdown_head(loaded.input(options));
  for (const Table& table : tables) out += render_markdown(table, options.raw) + "\n";
  return out;
}

std::string trace_csv(const Loaded& loaded, const ReportOptions& options) {
  std::string known;
  for (const Table& table : csv_tables(loaded.section->tables(loaded.input(options)), options.view)) {
    if (options.table.empty() || table.name == options.table) return render_csv(table);
    known += " " + table.name;
  }
  throw WrongUse("--table " + options.table + ": the section " + options.section + " has" + known);
}

using AllLoaded = std::vector<std::unique_ptr<Loaded>>;

std::vector<JobRank> ranks_of(const AllLoaded& all) {
  std::vector<JobRank> out;
  for (const auto& loaded : all)
    out.push_back({rank_name(loaded->reading.trace), &loaded->reading.trace, &loaded->lines.work()});
  return out;
}

/// The report of one trace in the requested format. The caller assembles JSON.
std::string one_report(const Loaded& loaded, const ReportOptions& options) {
  if (options.csv) return trace_csv(loaded, options);
  if (options.markdown) return trace_markdown(loaded, options);
  return trace_text(loaded, options);
}

/// A check of any trace fails, or with --strict a rank is missing.
int exit_code(const AllLoaded& all, const std::optional<Job>& job, bool strict) {
  if (strict && job && !missing_ranks(*job).empty()) return kExitCheckFailed;
  if (strict && all.size() == 1 && tell_absent(all.front()->reading.trace.header)) return kExitCheckFailed;
  for (const auto& one : all) {
    if (one->section != nullptr && one->section->fails()) return kExitCheckFailed;
  }
  return kExitOk;
}

int print_json(const AllLoaded& all, const ReportOptions& options) {
  OrderedJson out{{"schema", "rangefinder.report"},
                  {"version", "1.0"},
                  {"section", options.section},
                  {"traces", OrderedJson::array()}};
  for (const auto& loaded : all) out["traces"].push_back(trace_json(*loaded, options));
  std::optional<Job> job;
  if (options.as_ranks) put_ranks(job.emplace(ranks_of(all)), out, options.view.depth);
  std::cout << dump_json(out) << "\n";
  return exit_code(all, job, options.strict);
}

/// The traces in which the selection matches something. Throws WrongUse if there are none.
AllLoaded load_all(const std::vector<TraceFolder>& traces, const ReportOptions& options,
                   const SectionKind& kind) {
  AllLoaded all;
  std::string unmatched;  // of the first trace without a match
  for (const TraceFolder& files : traces) {
    std::string text;
    try {
      auto loaded = std::make_unique<Loaded>(files, options, kind, options.as_ranks);
      text = unmatched_text(loaded->reading.selection, loaded->reading.trace);
      tell_unused_communication(loaded->reading.trace);
      if (text.empty()) all.push_back(std::move(loaded));
    } catch (const NoMatch& error) {
      text = error.what();
    }
    if (unmatched.empty()) unmatched = text;
  }
  if (all.empty() && !unmatched.empty()) throw WrongUse(unmatched);
  if (all.size() < traces.size()) {
    std::cerr << "rangefinder: nothing of " << counted_text(traces.size() - all.size(), "trace", "traces")
              << " is selected: " << unmatched << "\n";
  }
  return all;
}

/// Without --section. The overview is about a whole run of one process.
const char* default_section(const ReportOptions& options) {
  const bool whole =
      options.selection.everything() && options.split_by.empty() && !options.view.fit && !options.view.total;
  return whole && !options.as_ranks && !options.csv ? "overview" : "modules";
}

int report(ReportOptions& options) {
  // Before the files are read. The overview has the keys of its modules.
  const std::string known = options.section.empty() ? "modules" : options.section;
  check_sort(options.view.sort, known, *find_section(known, options.view.check)->make(options.view));
  std::vector<TraceFolder> traces = named_traces(options.places);
  options.as_ranks = traces.size() > 1 && !options.view.total && !options.view.check &&
                     (options.as_ranks || ranks_of_one_job(traces));
  const bool is_first_screen = options.section.empty() || options.section == "overview";
  if (options.section.empty()) options.section = default_section(options);
  // For many ranks one merged module tree is more useful than one tree each.
  const auto merges = [&options] {
    return options.as_ranks && options.section == "modules" && !options.markdown && !options.json &&
           !options.each;
  };
  // A selection may match in one trace only, which is shown by itself.
  const bool whole = options.selection.everything() && options.selection.iteration_range.empty();
  const SectionKind& kind =
      merges() && whole ? kRanksOnly : *find_section(options.section, options.view.check);
  options.reading.pass_to(traces, options.selection.iteration_range);
  if (!options.html.empty()) {
    write_html(traces, options.html, options.limits);
    return kExitOk;
  }
  const bool one_by_one =
      !options.as_ranks && !options.markdown && !options.view.total && !options.view.check;
  if (one_by_one && !options.each && !options.json && !options.csv &&
      traces.size() > std::max(kMaxUnnamed, options.places.size())) {
    std::cout << trace_list_text(traces, options.style()) << report_command(options.places, "--each");
    return kExitOk;
  }
  if (options.csv && traces.size() > 1) throw WrongUse("--csv writes one table: name one trace");
  if (options.csv && is_first_screen)
    std::cerr << "rangefinder: --csv has the modules only; headline and findings: --json\n";
  const AllLoaded all = load_all(traces, options, kind);
  options.as_ranks = options.as_ranks && all.size() > 1;
  for (const auto& one : all) {
    if (one->section != nullptr && !options.view.sort.empty() && one->section->sort_keys().empty())
      check_sort(options.view.sort, options.section,
                 shown_tables(one->section->tables(one->input(options)), &Outputs::json, {}));
  }
  if (options.json) return print_json(all, options);
  const bool merged = merges();
  const char* separator = "";
  for (const auto& loaded : all) {
    if (merged) break;
    std::cout << separator << one_report(*loaded, options);
    separator = "\n";
  }
  std::optional<Job> job;
  if (options.as_ranks && !options.markdown) {
    std::cout << separator
              << ranks_text(job.emplace(ranks_of(all)), options.style(), options.view.depth,
                            options.selection.everything());
  } else if (all.size() > 1 && one_by_one) {
    std::cout << "\nEach trace by itself: these are not the ranks of one job. To compare them as ranks:\n"
              << report_command(options.places, "--as-ranks");
  }
  if (merged) std::cout << "\nAlso each trace by itself:\n" << report_command(options.places, "--each");
  return exit_code(all, job, options.strict);
}

/// `x/**` with --total is `x` and all below it: the row must have the module's own kernels too.
void check_total(ReportOptions& options, bool modules) {
  if (!options.view.total) return;
  if (!modules) throw WrongUse("--total needs --section modules");
  if (options.view.fit) throw WrongUse("--total and --fit exclude each other");
  if (options.as_ranks) throw WrongUse("--total has one row for each trace: remove --as-ranks");
  std::string& range = options.selection.range;
  while (range.size() > 3 && range.ends_with("/**")) range.erase(range.size() - 3);
  options.view.range = range;
}

/// Checks that CLI11 cannot do.
void complete(ReportOptions& options) {
  if (options.example.empty() == options.places.empty())
    throw WrongUse(options.places.empty()
                       ? "DIR is required, as in: rangefinder report rangefinder-4711, or --example"
                       : "--example and DIR exclude each other");
  if (!options.example.empty()) options.places.push_back(find_example(options.example).string());
  options.view.layers = options.section.empty();
  options.limits = options.reading.limits();
  if (!options.section.empty() && find_section(options.section) == nullptr) {
    std::vector<std::string> known;
    for (const SectionKind& kind : section_kinds()) known.emplace_back(kind.name);
    throw WrongUse("there is no section " + options.section + suggestion_or_all_text(known, options.section));
  }
  if (int{options.json} + int{options.csv} + int{options.markdown} > 1)
    throw WrongUse("--json, --csv and --md exclude each other");
  try {
    if (!options.iterations.empty()) options.selection.iterations = parse_iterations(options.iterations);
    if (!options.window.empty()) options.selection.window = parse_window(options.window);
    if (!options.selection.kernel.empty()) static_cast<void>(NamePattern(options.selection.kernel));
  } catch (const NamePattern::Invalid& error) {
    throw WrongUse("--kernel " + options.selection.kernel +
                   " is not a valid regular expression: " + error.what());
  } catch (const std::invalid_argument& error) {
    throw WrongUse(error.what());
  }
  const bool modules = options.section.empty() || options.section == "modules";
  if (!options.split_by.empty() && !modules && options.section != "layers") {
    throw WrongUse("--split-by is for --section modules and layers");
  }
  if (!options.html.empty() && !options.selection.everything()) {
    throw WrongUse("--html shows the whole trace: remove --range, --kernel, --iterations and --window");
  }
  if (options.view.check && (options.section != "graphs" || !options.html.empty())) {
    throw WrongUse("--check needs --section graphs, without --html");
  }
  if (options.view.fit && !modules) throw WrongUse("--fit needs --section modules");
  check_total(options, modules);
  options.view.kernels_only = !options.selection.kernel.empty();
  options.view.name =
      options.section == "kernel" ? options.selection.kernel : options.selection.iteration_range;
  if (options.section == "kernel" && options.view.name.empty()) {
    throw WrongUse("--section kernel needs the name of a kernel: --kernel REGEX");
  }
}

void add_selection(Verb& verb, ReportOptions& options) {
  verb.option("--range", options.selection.range,
              "Only work in these ranges: decoder at any level, model/decoder from the outermost one; * ** ?")
      .type_name("GLOB");
  verb.option("--kernel", options.selection.kernel, "Only kernels whose name matches this regular expression")
      .type_name("REGEX");
  verb.option("--iterations", options.iterations, "Only iterations FIRST:LAST, counted from 0, without LAST")
      .type_name("FIRST:LAST");
  verb.option("--iteration-range", options.selection.iteration_range,
              "Path of the iterations, as in infer_* [ranges whose names differ in a number, …]")
      .type_name("GLOB");
  verb.option("--window", options.window, "Only this part of the trace, as in 1.5s:2s").type_name("FROM:TO");
  verb.option(
          "--split-by", options.split_by,
          "Sampled trace of the same program: exact bytes of graph launches are split over their nodes in "
          "its proportions")
      .type_name("TRACE");
  verb.flag("--as-ranks", options.as_ranks,
            "Merge several traces as the ranks of a job [if they are rank=… or host=…/rank=…/pid=… below one "
            "folder]");
  std::vector<Choice> examples;
  for (const Example& one : kExamples) examples.push_back({one.name, one.about});
  verb.option("--example", options.example,
              std::string("Read a trace that comes with Rangefinder [") + kExamples.front().name + "]:")
      .type_name("[NAME]")
      .expected(0, 1)
      .choices(examples)
      .only_choices();
  options.reading.add_to(verb);
}

}  // namespace

void add_report(CommandLine& line, Action& action) {
  const auto options = std::make_shared<ReportOptions>();
  Verb verb = line.verb("report", "Show modules, kernels, findings and more of a trace");
  verb.usage("[OPTIONS] DIR...");
  verb.usage("[OPTIONS] --example [NAME]");
  std::vector<Choice> sections;
  for (const SectionKind& kind : section_kinds())
    sections.push_back({std::string(kind.name), std::string(kind.about)});
  verb.option("DIR", options->places,
              "Folder of a trace, or one with traces below it; ranks of one job are merged");
  verb.group("Section");
  verb.option("--section", options->section,
              "By default overview; of a selection and of several traces, modules and layers. One of:")
      .type_name("NAME")
      .choices(sections);
  verb.group("What is read");
  add_selection(verb, *options);
  verb.group("Rows");
  verb.option("--top", options->view.top, "Show the N heaviest rows").type_name("N").positive();
  verb.option("--sort", options->view.sort,
              "Sort by this column: a key of --json, or short: gpu, self, dram, …")
      .type_name("COLUMN");
  verb.option("--depth", options->view.depth, "Deepest level of modules to show: 1 (the outermost) or more")
      .type_name("N")
      .positive();
  verb.flag("--flat", options->view.flat, "Full paths in one list instead of a tree");
  verb.flag("--all", options->view.all,
            "findings: also what happens only in set-up and warm-up; --check: also what only some modes of "
            "capture allow");
  verb.flag("--fit", options->view.fit,
            "modules: also the lines of GPU time over DRAM and L2 bytes at each depth");
  verb.flag("--total", options->view.total,
            "modules: the paths of --range as one row, each kernel once, with its share of an iteration");
  verb.flag("--check", options->view.check,
            "graphs: calls that prevent the capture of CUDA graphs, by module; exit code 1 if there are any");
  verb.flag(
      "--strict", options->strict,
      "Of several ranks: exit with code 1 if one is absent, has no end, is damaged or lacks iterations");
  verb.flag("--each", options->each, "Show each of many traces; of ranks, before the merged report");
  verb.group("Output");
  add_color_option(verb);
  verb.flag("--wide", options->wide, "Show all columns, whatever the line length");
  verb.flag("--raw", options->raw, "Plain numbers (ns, bytes) instead of scaled units");
  verb.flag("--json", options->json, "As JSON, with full names and plain numbers");
  verb.flag("--csv", options->csv, "As CSV: the main table of the section, or --table");
  verb.option("--table", options->table, "With --csv: table of the section").type_name("NAME");
  verb.flag("--md", options->markdown, "As Markdown tables");
  verb.option("--html", options->html,
              "Write one HTML file that needs no network; for two traces it also shows their difference")
      .type_name("FILE");
  verb.callback([options, verb, &action] {
    if (verb.count("--example") != 0 && options->example.empty()) options->example = kExamples.front().name;
    action = [options] {
      complete(*options);
      return report(*options);
    };
  });
}

}  // namespace rangefinder
