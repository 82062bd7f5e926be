// SPDX-License-Identifier: Apache-2.0
//
// rangefinder lake add DIR… --out LAKE [--run NAME] | list LAKE | remove LAKE --run NAME | compact LAKE |
// expire LAKE --older 30d
#include <unistd.h>

#include <charconv>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "profiler/base/number_text.h"
#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/table/table_render.h"
#include "tools/command_line/command_line.h"
#include "tools/lake/lake_add.h"
#include "tools/lake/lake_upkeep.h"
#include "tools/rangefinder/named_traces.h"
#include "tools/rangefinder/read_options.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

namespace fs = std::filesystem;

struct LakeVerb {
  std::string what, out, run, older;
  std::vector<std::string> places;
  bool json = false;
  ReadOptions reading;
};

void say_each(const std::vector<std::string>& lines) {
  constexpr std::size_t kShown = 5;
  for (std::size_t i = 0; i < std::min(lines.size(), kShown); ++i)
    std::cerr << "rangefinder: " << printable(lines[i]) << "\n";
  if (lines.size() > kShown)
    std::cerr << "rangefinder: and " << count_text(lines.size() - kShown) << " more\n";
}

int add(const LakeVerb& verb) {
  if (verb.out.empty()) throw WrongUse("lake add: name the lake with --out");
  LakeAddRequest request;
  request.limits = verb.reading.limits();
  request.lake = verb.out;
  request.run = verb.run;
  const fs::path first = fs::absolute(verb.places.front()).lexically_normal();
  request.default_run = (first.has_filename() ? first : first.parent_path()).filename().string();
  request.traces = named_traces(verb.places);
  verb.reading.pass_to(request.traces, "");
  const LakeAddResult result = add_to_lake(request);
  say_each(result.unreadable);
  say_each(result.clashes);
  std::string text = counted_text(result.added, "process", "processes") + " added";
  if (result.replaced != 0) text += ", " + count_text(result.replaced) + " replaced";
  if (result.known != 0) text += ", " + count_text(result.known) + " already there";
  if (!result.unreadable.empty()) text += ", " + count_text(result.unreadable.size()) + " unreadable";
  if (result.rows != 0) text += ": " + count_text(result.rows) + " rows, " + bytes_text(result.bytes);
  std::cout << text << ".  Next:  rangefinder sql " << quoted_for_shell(verb.out)
            << " 'SELECT * FROM stragglers'\n";
  return result.unreadable.empty() ? kExitOk : kExitMissing;
}

int list(const LakeFolder& lake, const LakeVerb& verb) {
  const Table runs = lake_runs(lake);
  if (verb.json) {
    std::cout << dump_json(render_rows(runs)) << "\n";
  } else {
    Table shown = runs;
    keep_columns(shown, &Outputs::text);
    std::cout << render_text(shown, {line_width(STDOUT_FILENO), use_colour(STDOUT_FILENO)});
  }
  return kExitOk;
}

/// "30d" or "12h" in seconds.
std::int64_t seconds_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc() || number < 0 || number > 100'000 || (unit != "d" && unit != "h"))
    throw WrongUse("--older " + text + ": give a time such as 30d or 12h");
  return number * (unit == "d" ? 86'400 : 3'600);
}

void print_removed(const LakeRemoved& removed) {
  std::cout << counted_text(removed.runs.size(), "run", "runs") << " with "
            << counted_text(removed.processes, "process", "processes") << " removed, "
            << bytes_text(removed.bytes) << " freed\n";
}

int change(const LakeFolder& lake, const LakeVerb& verb) {
  if (verb.what == "remove") {
    print_removed(remove_run(lake, verb.run));
  } else if (verb.what == "expire") {
    print_removed(expire_runs(lake, std::time(nullptr) - seconds_of(verb.older)));
  } else {
    const LakeCompacted done = compact_lake(lake);
    std::cout << counted_text(done.parts_before, "part", "parts") << " before, "
              << count_text(done.parts_after) << " now, " << bytes_text(done.removed_bytes) << " freed\n";
  }
  return kExitOk;
}

int run_lake(const LakeVerb& verb) {
  if (verb.what == "add") return add(verb);
  if (verb.places.size() != 1) throw WrongUse("lake " + verb.what + ": name one lake");
  if (verb.what == "remove" && verb.run.empty()) throw WrongUse("lake remove: name the run with --run");
  if (verb.what == "expire") {
    if (verb.older.empty()) throw WrongUse("lake expire: give an age with --older, as in --older 30d");
    static_cast<void>(seconds_of(verb.older));
  }
  const bool reads = verb.what == "list";
  const LakeFolder lake(verb.places.front(), reads ? LakeFolder::Use::read : LakeFolder::Use::remove);
  return reads ? list(lake, verb) : change(lake, verb);
}

}  // namespace

void add_lake(CommandLine& line, Action& action) {
  const auto options = std::make_shared<LakeVerb>();
  Verb verb = line.verb("lake", "Keep traces of many runs as Parquet files, for `sql` and other engines");
  verb.option("ACTION", options->what, "What to do:")
      .required()
      .choices({{"add", "add the traces in these folders that are not in the lake"},
                {"list", "its runs"},
                {"remove", "delete a run"},
                {"compact", "join small files, delete what no query reads"},
                {"expire", "delete old runs"}})
      .only_choices();
  verb.option("DIR", options->places, "add: folders of traces; else the lake").required();
  verb.group("The lake");
  verb.option("-o,--out", options->out, "add: the lake, a folder").type_name("LAKE");
  verb.option("--run", options->run,
              "Name of the run [run=NAME in the folder's path, else the folder's name]")
      .type_name("NAME");
  verb.option("--older", options->older, "expire: runs that began before this time, as in 30d or 12h")
      .type_name("DURATION");
  verb.flag("--json", options->json, "list: as JSON");
  options->reading.add_to(verb);
  verb.callback([options, &action] {
    action = [options] {
      try {
        return run_lake(*options);
      } catch (const WrongName& error) {
        throw WrongUse(error.what());
      }
    };
  });
}

}  // namespace rangefinder
