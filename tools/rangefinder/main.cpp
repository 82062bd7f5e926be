// SPDX-License-Identifier: Apache-2.0
//
// rangefinder: time, DRAM and L2 bytes of every part of a CUDA program.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "profiler/attribution/number_text.h"
#include "tools/analysis/missing.h"
#include "tools/analysis/read_damage.h"
#include "tools/rangefinder/progress_bar.h"
#include "tools/rangefinder/verb.h"

namespace {

constexpr const char* kAbout =
    "Tells how long each part of a CUDA program ran on the GPU and how many bytes it moved\n"
    "through DRAM and L2. A part is an NVTX range. The program is not changed.\n";

constexpr const char* kFooter =
    "\nStart with:\n"
    "  rangefinder doctor                          can this machine trace?\n"
    "  rangefinder run -- ./app --its options      trace a program\n"
    "  rangefinder report rangefinder-4711         read what it wrote\n"
    "\nExit codes: 0 ok, 1 a check failed, 2 wrong use, 3 something is missing;\n"
    "`run` returns the program's own.\n";

/// Line by line: a name out of a trace may hold what a terminal would act on.
int print_once(const std::string& message, int code) {
  std::cerr << "rangefinder: ";
  for (std::size_t at = 0; at <= message.size();) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    std::cerr << rangefinder::printable(message.substr(at, end - at)) << "\n";
    at = end + 1;
  }
  return code;
}

/// CLI11 prints help and version itself; its codes for errors are not ours.
int end_of_parsing(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error, std::cout, std::cerr);
  std::cerr << "rangefinder: " << error.what() << "\n  See `rangefinder --help`, or --help behind a verb.\n";
  return rangefinder::kExitWrongUse;
}

/// What a verb could not read of its traces: it showed the rest.
int with_damage(int code) {
  const std::vector<std::string> sentences = rangefinder::read_damage.sentences();
  for (const std::string& sentence : sentences) print_once(sentence, code);
  return code == rangefinder::kExitOk && !sentences.empty() ? rangefinder::kExitMissing : code;
}

int run_command_line(int argc, char** argv) {
  // Split here: CLI11 2.1.2 refuses what follows `--` in a subcommand.
  std::vector<std::string> all(argv + 1, argv + argc);
  const auto dashes = std::find(all.begin(), all.end(), "--");
  const std::vector<std::string> program(dashes == all.end() ? dashes : dashes + 1, all.end());
  std::vector<std::string> own(all.begin(), dashes);

  CLI::App app(kAbout, "rangefinder");
  app.set_version_flag("--version", std::string("rangefinder ") + RANGEFINDER_VERSION);
  app.footer(kFooter);
  app.require_subcommand(0, 1);
  app.fallthrough(false);
  rangefinder::Action action;
  rangefinder::add_run(app, action, program);
  rangefinder::add_attach(app, action);
  rangefinder::add_top(app, action);
  rangefinder::add_report(app, action);
  rangefinder::add_diff(app, action);
  rangefinder::add_validate(app, action);
  rangefinder::add_export(app, action);
  rangefinder::add_serve(app, action);
  rangefinder::add_metrics(app, action);
  rangefinder::add_doctor(app, action);
  try {
    std::reverse(own.begin(), own.end());  // as CLI11 wants it
    app.parse(own);
  } catch (const CLI::ParseError& error) {
    return end_of_parsing(app, error);
  }
  if (!action) {
    std::cerr << app.help();
    return rangefinder::kExitWrongUse;
  }
  for (const char* const verb : {"run", "top", "serve"}) {
    if (app.got_subcommand(verb)) return action();  // the terminal is theirs
  }
  int code = rangefinder::kExitOk;
  {
    const rangefinder::ProgressBar bar;
    code = action();
  }
  return app.got_subcommand("validate") ? code : with_damage(code);  // it has told of them
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const int code = run_command_line(argc, argv);
    std::cout.flush();
    if (!std::cout) return print_once("cannot write to standard output", rangefinder::kExitMissing);
    return code;
  } catch (const rangefinder::WrongUse& error) {
    return print_once(error.what(), rangefinder::kExitWrongUse);
  } catch (const rangefinder::Missing& error) {
    return print_once(error.what(), rangefinder::kExitMissing);
  } catch (const std::exception& error) {
    return print_once(error.what(), rangefinder::kExitMissing);
  }
}
