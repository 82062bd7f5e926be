// SPDX-License-Identifier: Apache-2.0
//
// rangefinder validate DIR|FILE… [--strict] [--json]
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "profiler/attribution/number_text.h"
#include "tools/analysis/rows_json.h"
#include "tools/analysis/validation.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

using Json = nlohmann::ordered_json;

struct ValidateOptions {
  std::vector<std::string> places;
  bool strict = false;
  bool json = false;
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
  for (const std::string& note : result.notes) out += "note: " + note + "\n";
  out += result.place + ": " + counted_text(result.lines, "line", "lines") + " in " +
         counted_text(result.segments, "segment", "segments") + ", ";
  if (result.valid()) return out + "valid\n";
  out += counted_text(result.problems.count(), "problem", "problems") + " (";
  const char* separator = "";
  for (const auto& [kind, n] : result.problems.by_kind()) {
    out += separator + kind + " " + count_text(n);
    separator = ", ";
  }
  return out + ")\n";
}

Json as_json(const Validation& result) {
  Json out{{"place", result.place},
           {"valid", result.valid()},
           {"segments", result.segments},
           {"lines", result.lines},
           {"problem_count", result.problems.count()},
           {"problems_by_kind", Json::object()},
           {"problems", Json::array()},
           {"notes", result.notes}};
  for (const auto& [kind, n] : result.problems.by_kind()) out["problems_by_kind"][kind] = n;
  for (const Problem& problem : result.problems.first()) {
    Json row{{"kind", problem.kind}, {"file", problem.file}, {"text", problem.text}};
    if (problem.line != 0) row["line"] = problem.line;
    out["problems"].push_back(std::move(row));
  }
  return out;
}

int validate(const ValidateOptions& options) {
  Json all{{"schema", "rangefinder.validation"}, {"version", "1.0"}, {"traces", Json::array()}};
  bool valid = true;
  for (const std::string& place : options.places) {
    for (const TraceFolder& trace : find_traces(place)) {
      const Validation result = validate_trace(trace, options.strict);
      valid &= result.valid();
      if (options.json) {
        all["traces"].push_back(as_json(result));
      } else {
        std::cout << as_text(result);
      }
    }
  }
  if (options.json) std::cout << dump_json(all) << "\n";
  return valid ? kExitOk : kExitCheckFailed;
}

}  // namespace

void add_validate(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* const verb =
      app.add_subcommand("validate", "Is a trace whole and true to its format? Exit code 1 if not");
  verb->add_option("DIR|FILE", options->places, "Folder of a trace, one with traces below it, or one segment")
      ->required();
  verb->add_flag("--strict", options->strict, "A torn last line and a missing end are problems too");
  verb->add_flag("--json", options->json, "As JSON");
  verb->callback([options, &action] { action = [options] { return validate(*options); }; });
}

}  // namespace rangefinder
