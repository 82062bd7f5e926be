// SPDX-License-Identifier: Apache-2.0
//
// rangefinder run [options] -- program args
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "profiler/counters/metrics/metric_plan.h"
#include "profiler/counters/metrics/metric_sets.h"
#include "profiler/options/option_table.h"
#include "tools/analysis/model/missing.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/child_process.h"
#include "tools/rangefinder/installation.h"
#include "tools/rangefinder/metric_request.h"
#include "tools/rangefinder/out_template.h"
#include "tools/rangefinder/run_environment.h"
#include "tools/rangefinder/run_manifest.h"
#include "tools/rangefinder/run_ranks.h"
#include "tools/rangefinder/run_report.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

constexpr const char* kOutVariable = "RANGEFINDER_OUT";

struct RunOptions {
  std::map<std::string, std::string> variables;  ///< values of flags, by variable
  std::map<std::string, bool> switches;          ///< by variable
  bool force = false;
  bool quiet = false;
  bool torch_modules = false, torch_memory = false;
  bool ranks = false;
  bool mpi = false;
  std::vector<std::string> program;
};

/// The values of `row` that a shell can complete.
std::vector<Choice> choices_of(const OptionRow& row) {
  std::vector<Choice> out;
  if (const auto* const words = std::get_if<WordValue>(&row.value); words != nullptr) {
    for (const std::string_view word : words->words) out.push_back({std::string(word)});
    out.push_back({std::string(words->unlisted)});
  } else if (std::holds_alternative<CaptureValue>(row.value)) {
    out = {{"cudaProfilerApi"}, {"nvtx:"}, {"after:"}};
  } else if (std::holds_alternative<CaptureEndValue>(row.value)) {
    out = {{"stop"}, {"repeat"}, {"repeat:"}};
  } else if (std::holds_alternative<MonitorValue>(row.value)) {
    out = {{"on"}, {"off"}};
  } else if (std::string_view(row.flag) == "--metrics") {
    for (const MetricSet& set : metric_sets()) out.push_back({set.name});
  }
  std::erase_if(out, [](const Choice& choice) { return choice.name.empty(); });
  return out;
}

/// Adds one flag for each row of kOptions.
void add_table_flags(Verb& verb, RunOptions& options) {
  for (const OptionRow& row : kOptions) {
    if (*row.flag == '\0') continue;
    verb.group(row.group);
    std::string help = help_text(row);
    if (*row.switch_value != '\0') {
      verb.flag(row.flag, options.switches[row.variable], help);
      continue;
    }
    const std::string fallback = *row.run_fallback != '\0' ? row.run_fallback : row.fallback;
    if (!fallback.empty()) help += " [" + fallback + "]";
    verb.option(row.flag, options.variables[row.variable], help)
        .type_name(std::holds_alternative<NumberValue>(row.value)    ? "N"
                   : std::holds_alternative<PatternValue>(row.value) ? "REGEX"
                                                                     : "VALUE")
        .choices(choices_of(row));
  }
}

Options options_of(const std::vector<std::string>& environment) {
  std::vector<const char*> pointers;
  for (const std::string& entry : environment) pointers.push_back(entry.c_str());
  pointers.push_back(nullptr);
  return read_options(pointers.data());
}

/// The given flags, as variables. Throws WrongUse for values that the library would refuse.
std::map<std::string, std::string> given_variables(const Verb& verb, const RunOptions& options) {
  std::map<std::string, std::string> given;
  std::vector<std::string> entries;
  for (const OptionRow& row : kOptions) {
    if (*row.flag == '\0' || verb.count(row.flag) == 0) continue;
    given[row.variable] = *row.switch_value != '\0' ? row.switch_value : options.variables.at(row.variable);
    entries.push_back(std::string(row.variable) + "=" + given[row.variable]);
  }
  for (const std::string& problem : options_of(entries).problems) {
    std::string text = problem;
    for (const OptionRow& row : kOptions) {
      if (*row.flag != '\0' && text.starts_with(std::string(row.variable) + "=")) {
        text = std::string(row.flag) + " " + text.substr(std::strlen(row.variable) + 1);
      }
    }
    const std::size_t fix = text.find(" The default is used.");
    throw WrongUse(text.substr(0, fix));
  }
  return given;
}

std::string absolute_path(const std::string& path) {
  return path.find('/') == std::string::npos ? path : std::filesystem::absolute(path).string();
}

Environment child_environment(const Verb& verb, const RunOptions& options, const RunManifest& manifest) {
  Environment environment(environ);
  for (const auto& [variable, value] : given_variables(verb, options)) environment.set(variable, value);
  // `run` ends with a table, so it samples bytes by default. Without `run` the default is off, because a
  // fleet loads the library into every process.
  for (const OptionRow& row : kOptions) {
    if (*row.run_fallback != '\0' && environment.get(row.variable).empty())
      environment.set(row.variable, row.run_fallback);
  }
  if (const std::string metrics = environment.get("RANGEFINDER_METRICS");
      !metrics.empty() && metrics != Options{}.metrics) {
    const PlannedMetrics planned = plan_metric_request(
        metrics, {environment.get("RANGEFINDER_CUPTI"), environment.get("RANGEFINDER_CUPTI_FOLDER")});
    environment.set("RANGEFINDER_METRICS", planned.request);
    if (planned.turns > 1 && !options.quiet) {
      std::cerr << "rangefinder: --metrics " << printable(metrics) << " takes " << planned.turns
                << " turns on this GPU: what runs " << planned.turns * kTurnLaunches
                << " times or more has all values.\n";
    }
  }
  std::string out = environment.get(kOutVariable);
  if (out.empty() && verb.count("--out") == 0) out = Options{}.out;
  if (options.ranks) out = shared_out(out);
  out = prepare_out_template(out);
  if (const auto folder = fixed_folder(out); !folder.empty()) clear_folder(folder, options.force);
  environment.set(kOutVariable, out);
  // The program may change its working directory before it calls CUDA.
  if (verb.count("--record") != 0) {
    environment.set("RANGEFINDER_RECORD",
                    std::filesystem::absolute(environment.get("RANGEFINDER_RECORD")).string());
  }
  if (verb.count("--cupti") != 0)
    environment.set("RANGEFINDER_CUPTI", absolute_path(environment.get("RANGEFINDER_CUPTI")));
  environment.set("RANGEFINDER_MANIFEST", manifest.file());
  environment.set("RANGEFINDER_RUN_PID", std::to_string(getpid()));
  inject_library(environment, find_library());
  if (options.mpi) preload_library(environment, find_mpi_library());
  const bool torch = options.torch_modules || options.torch_memory;
  if (const auto python = find_python_folder(torch); !python.empty()) add_python_folder(environment, python);
  if (torch) environment.set("RANGEFINDER_TORCH_MODULES", options.torch_memory ? "memory" : "on");
  return environment;
}

void print_start_error(const std::string& program, int error) {
  std::cerr << "rangefinder: cannot run " << printable(program) << ": " << std::strerror(error) << "\n";
  if (error == ENOENT) {
    std::cerr << "  Check the name. The program must be in PATH or be named with its folder.\n";
  } else if (error == EACCES) {
    std::cerr << "  It is not executable: use chmod +x, or name its interpreter (-- python3 script.py).\n";
  }
}

int run(const Verb& verb, const RunOptions& options) {
  if (!verb.remaining().empty()) {
    const std::string first = verb.remaining().front();
    if (first.starts_with("-"))
      throw WrongUse("run has no option " + first + verb.suggestion(first) +
                     "\n  See `rangefinder run --help`.");
    throw WrongUse("put the program after `--`, as in: rangefinder run -- " + first);
  }
  if (options.program.empty()) {
    throw WrongUse("run needs a program, as in: rangefinder run -- ./app --its options");
  }
  const RunManifest manifest;
  const Environment environment = child_environment(verb, options, manifest);
  const ChildEnd end = run_child(options.program, environment.entries());
  const std::string& program = options.program.front();
  if (end.start_error != 0) {
    print_start_error(program, end.start_error);
    return end.shell_code();
  }
  LayerReportStyle style;
  style.width = line_width(STDERR_FILENO);
  style.colour = use_colour(STDERR_FILENO);
  const TextStyle text_style{style.width, style.colour, false};
  const CompletedSummaries completed =
      complete_summaries(manifest.folders(), options.quiet || options.ranks ? nullptr : &text_style);
  if (options.quiet) return end.shell_code();
  if (end.signal != 0) {
    std::cerr << "rangefinder: " << printable(program) << " was killed by signal " << end.signal << " ("
              << strsignal(end.signal) << ")\n";
  }
  if (manifest.folders().empty() && !options_of(environment.entries()).starts_recording()) {
    std::cerr << "rangefinder: no window was opened, so there is no trace\n"
                 "  `rangefinder attach` opens one while the program runs. --capture opens one at ranges or "
                 "calls.\n";
    return end.shell_code();
  }
  if (options.ranks && !manifest.folders().empty()) {
    std::cerr << completed.messages
              << ranks_report(manifest.folders(), fixed_folder(environment.get(kOutVariable)).string(),
                              text_style);
    return end.shell_code();
  }
  std::cerr << run_report(manifest.folders(), completed, program, style) << completed.messages;
  return end.shell_code();
}

}  // namespace

void add_run(CommandLine& line, Action& action, const std::vector<std::string>& program) {
  const auto options = std::make_shared<RunOptions>();
  options->program = program;
  Verb verb = line.verb("run", "Trace a program");
  verb.usage("[OPTIONS] -- PROGRAM [ARGS...]");
  verb.allow_extras();
  add_table_flags(verb, *options);
  verb.group(kOutput);
  verb.flag("--force", options->force, "Replace the trace in the folder of --out");
  add_color_option(verb);
  verb.flag("-q,--quiet", options->quiet, "Print no report at the end");
  verb.group(kRecorded);
  verb.flag("--torch-modules", options->torch_modules,
            "Put a range around every PyTorch module, forward and backward, without a change of code");
  verb.flag(
      "--torch-memory", options->torch_memory,
      "As --torch-modules, and what PyTorch's caching allocator hands out in each module: report --section "
      "memory");
  verb.flag("--mpi", options->mpi, "Record MPI calls as ranges of the domain MPI, with their bytes");
  verb.group(kProcesses);
  verb.flag(
      "--ranks", options->ranks,
      "The program starts the ranks of a job (torchrun, mpirun, srun): print one report over all ranks");
  verb.footer(
      "Writes a trace to the folder of --out and prints the modules with the most GPU time at the end.\n"
      "Each option can also be set as a variable RANGEFINDER_…. Returns the program's exit code.\n");
  verb.callback([verb, options, &action] { action = [verb, options] { return run(verb, *options); }; });
}

}  // namespace rangefinder
