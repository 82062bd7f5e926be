// SPDX-License-Identifier: Apache-2.0
//
// rangefinder validate DIR|FILE… [--strict] [--json] [--fix [--out NEW | --force]]
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/model/missing.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/validate/salvage.h"
#include "tools/analysis/validate/validation.h"
#include "tools/command_line/command_line.h"
#include "tools/rangefinder/named_traces.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct ValidateOptions {
  std::vector<std::string> places;
  bool strict = false;
  bool json = false;
  bool fix = false;
  bool force = false;
  std::string out;
};

std::string problem_text(const Problem& problem) {
  std::string out = printable(problem.file);
  if (problem.line != 0) out += ":" + std::to_string(problem.line);
  return out + ": " + printable(problem.text) + "  [" + problem.kind + "]\n";
}

std::string as_text(const Validation& result) {
  std::string out;
  for (const Problem& problem : result.problems.first()) out += problem_text(problem);
  if (result.problems.count() > result.problems.first().size()) {
    out += "… and " + count_text(result.problems.count() - result.problems.first().size()) + " more\n";
  }
  for (const std::string& note : result.notes) out += "note: " + printable(note) + "\n";
  out += printable(result.place) + ": " + counted_text(result.lines, "line", "lines") + " in " +
         counted_text(result.segments, "segment", "segments") + ", ";
  if (result.valid()) return out + "valid\n";
  if (result.incomplete()) out += "incomplete: ";
  out += counted_text(result.problems.count(), "problem", "problems") + " (";
  const char* separator = "";
  for (const auto& [kind, n] : result.problems.by_kind()) {
    out += separator + kind + " " + count_text(n);
    separator = ", ";
  }
  return out + ")\n";
}

OrderedJson as_json(const Validation& result) {
  OrderedJson out{{"place", result.place},
                  {"valid", result.valid()},
                  {"incomplete", result.incomplete()},
                  {"segments", result.segments},
                  {"lines", result.lines},
                  {"problem_count", result.problems.count()},
                  {"problems_by_kind", OrderedJson::object()},
                  {"problems", OrderedJson::array()},
                  {"notes", result.notes}};
  for (const auto& [kind, n] : result.problems.by_kind()) out["problems_by_kind"][kind] = n;
  for (const Problem& problem : result.problems.first()) {
    OrderedJson row{{"kind", problem.kind}, {"file", problem.file}, {"text", problem.text}};
    if (problem.line != 0) row["line"] = problem.line;
    out["problems"].push_back(std::move(row));
  }
  return out;
}

/// A place that cannot be read, as a trace with one problem.
Validation unreadable(const std::string& place, const Missing& error) {
  Validation out;
  out.place = place;
  const std::string text = error.what();
  out.problems.add_at(place, "unreadable", text.substr(0, text.find('\n')));
  return out;
}

/// Calls `take` for all traces at the places, and with an unreadable one for a place without a trace.
template <typename Take>
void for_each_trace(const std::vector<std::string>& places, Take take) {
  for (const std::string& place : places) {
    if (!std::filesystem::exists(place)) throw Missing(place + " does not exist");
    std::vector<TraceFolder> traces;
    try {
      traces = named_traces({place});
    } catch (const Missing& error) {
      take(nullptr, unreadable(place, error));
    }
    for (const TraceFolder& trace : traces) take(&trace, Validation());
  }
}

Validation judge(const TraceFolder& trace, bool strict) {
  try {
    return validate_trace(trace, strict);
  } catch (const Missing& error) {
    return unreadable(trace.folder.string(), error);
  }
}

int validate(const ValidateOptions& options) {
  OrderedJson all{{"schema", "rangefinder.validation"}, {"version", "1.0"}, {"traces", OrderedJson::array()}};
  bool valid = true;
  for_each_trace(options.places, [&](const TraceFolder* trace, const Validation& fault) {
    const Validation result = trace == nullptr ? fault : judge(*trace, options.strict);
    valid &= result.valid();
    if (options.json) {
      all["traces"].push_back(as_json(result));
    } else {
      std::cout << as_text(result);
    }
  });
  if (options.json) std::cout << dump_json(all) << "\n";
  return valid ? kExitOk : kExitCheckFailed;
}

std::string as_text(const Salvage& result) {
  if (!result.needed) return printable(result.before.place) + ": valid, nothing to fix\n";
  std::string out = as_text(result.before);
  if (!result.done) {
    return out + "\nThe rest would not be valid either, so nothing was written:\n" + as_text(result.after);
  }
  return out + "\n" + printable(result.place.string()) + ": valid, with " +
         counted_text(result.kept, "line", "lines") + " kept, " + count_text(result.dropped) +
         " dropped and an end line that counts them\n";
}

OrderedJson as_json(const Salvage& result) {
  OrderedJson out{{"needed", result.needed}, {"done", result.done}, {"before", as_json(result.before)}};
  if (!result.needed) return out;
  out["place"] = result.place.string();
  out["kept"] = result.kept;
  out["dropped"] = result.dropped;
  out["after"] = as_json(result.after);
  return out;
}

int fix(const ValidateOptions& options) {
  const std::vector<TraceFolder> traces = named_traces(options.places);
  if (!options.out.empty() && traces.size() != 1) {
    throw WrongUse("--out needs a single trace, and there are " + std::to_string(traces.size()));
  }
  OrderedJson all{{"schema", "rangefinder.salvage"}, {"version", "1.0"}, {"traces", OrderedJson::array()}};
  bool good = true;
  for (const TraceFolder& trace : traces) {
    std::filesystem::path to = options.out;
    if (to.empty() && !options.force) to = (trace.folder / "").parent_path().string() + "-salvaged";
    const Salvage result = salvage_trace(trace, to);
    good &= result.done || !result.needed;
    if (options.json) {
      all["traces"].push_back(as_json(result));
    } else {
      std::cout << as_text(result);
    }
  }
  if (options.json) std::cout << dump_json(all) << "\n";
  return good ? kExitOk : kExitCheckFailed;
}

}  // namespace

void add_validate(CommandLine& line, Action& action) {
  const auto options = std::make_shared<ValidateOptions>();
  Verb verb =
      line.verb("validate", "Check that traces are complete and follow the format; exit code 1 if not");
  verb.option("DIR|FILE", options->places, "Folder of a trace, one with traces below it, or one segment")
      .required();
  verb.flag("--strict", options->strict, "Treat a torn last line and a missing end as problems");
  verb.flag("--json", options->json, "As JSON");
  CommandLineOption fix_flag =
      verb.flag("--fix", options->fix,
                "Repair a cut or damaged trace: write the intact lines, and an end that counts the rest");
  CommandLineOption out =
      verb.option("--out", options->out, "With --fix: folder to write [name of the trace + -salvaged]")
          .type_name("DIR");
  CommandLineOption force = verb.flag("--force", options->force, "With --fix: replace the trace");
  out.needs(fix_flag).excludes(force);
  force.needs(fix_flag);
  verb.callback([options, &action] {
    action = [options] { return options->fix ? fix(*options) : validate(*options); };
  });
}

}  // namespace rangefinder
