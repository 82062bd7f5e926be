// SPDX-License-Identifier: Apache-2.0
//
// rangefinder sql LAKE|TRACE 'SELECT …' [--json | --csv] [--explain]
#include <unistd.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/queries/rows_json.h"
#include "tools/analysis/table/table_render.h"
#include "tools/command_line/command_line.h"
#include "tools/lake/duckdb.h"
#include "tools/lake/lake_views.h"
#include "tools/lake/trace_tables.h"
#include "tools/rangefinder/named_traces.h"
#include "tools/rangefinder/read_options.h"
#include "tools/rangefinder/terminal.h"
#include "tools/rangefinder/verb.h"

namespace rangefinder {
namespace {

struct SqlVerb {
  std::string place, query;
  bool json = false, csv = false, explain = false;
  ReadOptions reading;
};

/// Puts the rows of all traces in `verb.place` into `tables`.
void load_traces(DuckDb& db, TraceTables& tables, const SqlVerb& verb) {
  std::vector<TraceFolder> traces = named_traces({verb.place});
  verb.reading.pass_to(traces, "");
  for (const TraceFolder& trace : traces) tables.add(trace, "", verb.reading.limits());
  tables.finish();
  create_views(db);
}

void print(const Table& table, const SqlVerb& verb) {
  if (verb.json) {
    std::cout << dump_json(render_rows(table)) << "\n";
  } else if (verb.csv) {
    std::cout << render_csv(table);
  } else {
    TextStyle style{line_width(STDOUT_FILENO), use_colour(STDOUT_FILENO)};
    style.raw = true;
    std::cout << render_text(table, style);
  }
}

/// A plan is a drawing of several lines.
void print_plan(const Table& plan) {
  for (const std::vector<Cell>& row : plan.rows) std::cout << std::get<std::string>(row.back().value) << "\n";
}

int ask(const SqlVerb& verb) {
  const ReadLimits limits = verb.reading.limits();
  DuckDb db({limits.jobs, 0, {}});
  std::optional<LakeFolder> lake;
  std::optional<TraceTables> tables;
  if (LakeFolder::is_lake(verb.place)) {
    lake.emplace(verb.place, LakeFolder::Use::read);
    create_views(db, *lake);
    db.lock(lake->root());
  } else {
    load_traces(db, tables.emplace(db), verb);
    db.lock({});
  }
  try {
    const Table answer = db.answer(verb.query, verb.explain ? Explain::yes : Explain::no);
    if (DuckDb::is_plan(answer) && !verb.json && !verb.csv) {
      print_plan(answer);
    } else {
      print(answer, verb);
    }
  } catch (const DuckDb::Refused& error) {
    throw WrongUse(error.what());
  }
  return kExitOk;
}

}  // namespace

void add_sql(CommandLine& line, Action& action) {
  const auto options = std::make_shared<SqlVerb>();
  Verb verb = line.verb("sql", "Ask a lake or traces in SQL, with DuckDB");
  verb.option("DIR", options->place, "A lake, a trace, or a folder with traces below it").required();
  verb.option("QUERY", options->query, "One SELECT; DESCRIBE kernels names the columns of a table")
      .required();
  verb.group("The answer");
  CommandLineOption json = verb.flag("--json", options->json, "An array with an object for each row");
  verb.flag("--csv", options->csv, "As CSV").excludes(json);
  verb.flag("--explain", options->explain, "Show how DuckDB would run it");
  add_color_option(verb);
  options->reading.add_to(verb);
  verb.callback([options, &action] { action = [options] { return ask(*options); }; });
}

}  // namespace rangefinder
